package browser

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestQuickstart walks through the quickstart as a user does: run everything, look at the profile, complete a name,
// interrupt a loop, restart, save, reopen, and open a copy that Jupyter does not trust.
func TestQuickstart(t *testing.T) {
	l := startLab(t, "../../notebooks/quickstart.ipynb")
	l.open("quickstart.ipynb")
	l.runAll()

	l.showProfile()
	l.wait("the live table", `[...`+profileOutput+`.querySelectorAll('td,th')].some(e => e.textContent.includes('Mul by columns') && e.offsetParent)`)
	l.screenshot("lab-table-light")
	l.tab("Timeline")
	l.wait("the timeline", profileOutput+`.querySelector('canvas')`)
	l.drawn("the timeline", 6)
	l.screenshot("lab-timeline-light")
	l.tab("Memory")
	l.drawn("the memory curve", 3)
	l.screenshot("lab-memory-light")

	l.do(`window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'}).then(() => true)`)
	l.wait("the dark theme", `document.body.dataset.jpThemeLight === 'false' && !document.getElementById('jupyterlab-splash')`)
	l.tab("Timeline")
	l.drawn("the dark timeline", 6)
	l.screenshot("lab-timeline-dark")
	l.tab("Table")
	l.screenshot("lab-table-dark")
	l.do(`window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'}).then(() => true)`)

	t.Run("completion", func(t *testing.T) { l.completion(t) })
	t.Run("interrupt", func(t *testing.T) { l.interrupt(t) })
	t.Run("restart", func(t *testing.T) { l.restart(t) })
	t.Run("reopen", func(t *testing.T) { l.reopen(t) })
	t.Run("untrusted", func(t *testing.T) { l.untrusted(t) })
}

func (l *lab) completion(t *testing.T) {
	l.appendCell("strings.HasPre")
	l.do(`(() => {
		const e = window.jupyterapp.shell.currentWidget.content.activeCell.editor;
		e.focus(); e.setCursorPosition({line: 0, column: 14});
		window.jupyterapp.commands.execute('completer:invoke-notebook'); return true;
	})()`)
	// One candidate is inserted at once; a list would be shown otherwise.
	l.wait("the completion", lastCell+`.sharedModel.getSource().includes('strings.HasPrefix') || [...document.querySelectorAll('.jp-Completer-item')].some(e => e.textContent.includes('HasPrefix'))`)
	l.do(`(() => { ` + lastCell + `.sharedModel.setSource('1'); return true; })()`)
}

func (l *lab) interrupt(t *testing.T) {
	l.appendCell("counter := 0\nfor { counter++ }")
	l.start()
	l.wait("the loop to run", `window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'busy'`)
	l.do(`new Promise(r => setTimeout(() => r(true), 2500))`) // until the loop itself is under way
	l.command("notebook:interrupt-kernel")
	l.wait("the interrupted cell to end", lastCell+`.executionState !== 'running' && `+lastCell+`.outputs.length > 0`)
	if got := l.lastText(); !strings.Contains(strings.ToLower(got), "interrupt") {
		t.Errorf("the interrupted cell shows %q", got)
	}
	if got := l.runCell(`fmt.Println("x is still", x, counter > 0)`); !strings.Contains(got, "x is still 41 true") {
		t.Errorf("after the interrupt: %q", got)
	}
}

func (l *lab) restart(t *testing.T) {
	l.do(`(async () => { await window.jupyterapp.shell.currentWidget.sessionContext.restartKernel(); return true; })()`)
	l.wait("the new kernel", `window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'`)
	if got := l.runCell("x"); !strings.Contains(got, "undefined: x") {
		t.Errorf("after the restart x is %q", got)
	}
	if got := l.runCell("6 * 7"); got != "42" {
		t.Errorf("after the restart 6*7 is %q", got)
	}
}

func (l *lab) reopen(t *testing.T) {
	l.do(`(async () => { await window.jupyterapp.shell.currentWidget.context.save(); return true; })()`)
	l.open("quickstart.ipynb")
	l.showProfile()
	l.wait("the live profile after reopening", profileOutput+`.querySelector('[role=tab]')`)
	l.tab("Timeline")
	l.wait("the canvas after reopening", profileOutput+`.querySelector('canvas')`)
	l.drawn("after reopening the timeline", 6)
}

// untrusted opens a copy that was changed behind Jupyter's back: scripts must not run, and the report must be readable.
func (l *lab) untrusted(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(l.root, "quickstart.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var nb map[string]any
	if err := json.Unmarshal(b, &nb); err != nil {
		t.Fatal(err)
	}
	for i, c := range nb["cells"].([]any) {
		outs, _ := c.(map[string]any)["outputs"].([]any)
		for _, o := range outs {
			if data, ok := o.(map[string]any)["data"].(map[string]any); ok {
				data["text/x-changed"] = strconv.Itoa(i)
			}
		}
	}
	b, err = json.Marshal(nb)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.root, "stranger.ipynb"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	l.open("stranger.ipynb")
	l.do(`(async () => {
		const nb = window.jupyterapp.shell.currentWidget.content;
		const i = nb.widgets.findIndex(c => c.model.type === 'code' && c.model.sharedModel.getSource().startsWith('%%profile'));
		await nb.scrollToItem(i, 'start'); return true;
	})()`)
	const out = `[...document.querySelectorAll('.jp-OutputArea-output')].find(e => e.textContent.includes('Mul by columns'))`
	l.wait("the static report", out)
	type report struct {
		Scripts, Canvas, Images, Cells int
		Hint                           bool
	}
	got := eval[report](l, `(() => { const o = `+out+`; o.scrollIntoView(); return {Scripts: o.querySelectorAll('script').length, Canvas: o.querySelectorAll('canvas').length,
		Images: [...o.querySelectorAll('img')].filter(i => i.complete && i.naturalWidth > 50).length, Cells: o.querySelectorAll('td').length,
		Hint: /trust/i.test(o.textContent)}; })()`)
	if got.Scripts != 0 || got.Canvas != 0 {
		t.Errorf("an untrusted notebook runs scripts: %+v", got)
	}
	if got.Images == 0 || got.Cells < 20 || !got.Hint {
		t.Errorf("the untrusted report is not readable: %+v", got)
	}
	l.screenshot("lab-untrusted")
}
