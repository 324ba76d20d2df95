package browser

import "fmt"

// runAll runs all cells and waits until the kernel has done them.
func (l *lab) runAll() {
	l.t.Helper()
	l.command("notebook:run-all-cells")
	l.wait("all cells to run", `(() => {
		const nb = window.jupyterapp.shell.currentWidget.content;
		return nb.widgets.filter(c => c.model.type === 'code' && c.model.sharedModel.getSource().trim()).every(c => c.model.executionCount > 0 && c.model.executionState !== 'running');
	})() && window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'`)
}

// appendCell puts a code cell at the end and makes it the active one.
func (l *lab) appendCell(code string) {
	l.t.Helper()
	l.do(`(() => {
		const nb = window.jupyterapp.shell.currentWidget.content;
		nb.model.sharedModel.insertCell(nb.model.cells.length, {cell_type: 'code', source: ` + quote(code) + `});
		nb.activeCellIndex = nb.model.cells.length - 1;
		return nb.scrollToItem(nb.activeCellIndex, 'end');
	})()`)
	l.wait("the cell's editor", `(() => { const c = window.jupyterapp.shell.currentWidget.content.activeCell; return c && c.editor; })()`)
}

// start runs the active cell without waiting for its end.
func (l *lab) start() {
	l.t.Helper()
	l.do(`(() => { window.jupyterapp.commands.execute('notebook:run-cell'); return true; })()`)
}

// runCell appends a cell, runs it and returns the text of its outputs.
func (l *lab) runCell(code string) string {
	l.t.Helper()
	l.appendCell(code)
	l.start()
	l.wait(fmt.Sprintf("cell %q to end", code), lastCell+`.executionCount > 0 && `+lastCell+`.executionState !== 'running'`)
	return l.lastText()
}

const lastCell = `(() => { const m = window.jupyterapp.shell.currentWidget.content.model.cells; return m.get(m.length - 1); })()`

func (l *lab) lastText() string {
	l.t.Helper()
	return eval[string](l, `(() => { const out = []; const o = `+lastCell+`.outputs.toJSON(); for (const x of o) {
		if (x.output_type === 'stream') out.push([].concat(x.text).join(''));
		else if (x.output_type === 'error') out.push(x.ename + ': ' + x.evalue);
		else out.push([].concat(x.data['text/plain'] || '').join(''));
	} return out.join('\n'); })()`)
}

// profileOutput is the element of the first profile in the page, live or static.
const profileOutput = `document.querySelector('.jp-OutputArea-output .gpk, .jp-OutputArea-output [id^="gpk"], .jp-OutputArea-output [data-jupyter-id^="gpk"]')`

// showProfile scrolls the first profile into view.
func (l *lab) showProfile() {
	l.t.Helper()
	l.do(`(async () => {
		const nb = window.jupyterapp.shell.currentWidget.content;
		const i = nb.widgets.findIndex(c => c.model.type === 'code' && c.model.sharedModel.getSource().startsWith('%%profile'));
		nb.activeCellIndex = i;
		await nb.scrollToItem(i, 'start');
		return true;
	})()`)
	l.wait("the profile's output", profileOutput)
	l.do(`(() => { ` + profileOutput + `.scrollIntoView({block: 'start'}); return true; })()`)
}

// drawn waits until the largest visible canvas of the profile shows at least n colours: a canvas that nobody has drawn on
// shows none, one with axes and text only a few.
func (l *lab) drawn(what string, n int) {
	l.t.Helper()
	l.wait(fmt.Sprintf("%s to show %d colours", what, n), fmt.Sprintf(`(() => {
		let best = null;
		for (const c of %s.querySelectorAll('canvas')) {
			const r = c.getBoundingClientRect();
			if (r.width > 50 && r.height > 20 && (!best || r.width * r.height > best.w)) best = {c, w: r.width * r.height};
		}
		if (!best) return false;
		const c = best.c, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set();
		for (let i = 0; i < d.length; i += 4) if (d[i + 3]) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
		return seen.size >= %d;
	})()`, profileOutput, n))
}

// tab opens one view of the profile.
func (l *lab) tab(name string) {
	l.t.Helper()
	l.do(`(() => {
		for (const b of ` + profileOutput + `.querySelectorAll('[role=tab]')) if (b.textContent.trim() === ` + quote(name) + `) { b.click(); return true; }
		throw new Error('no tab ' + ` + quote(name) + `);
	})()`)
}
