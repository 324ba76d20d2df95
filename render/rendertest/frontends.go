package rendertest

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Host is a front end that shows outputs.
type Host string

const (
	Lab            Host = "JupyterLab"        // JupyterLab 4 and Notebook 7: their own packages
	Classic        Host = "Notebook 6"        // jQuery's html() on a page with an AMD loader
	VSCode         Host = "VS Code"           // its way of running scripts, under its content policy
	Exported       Host = "nbconvert"         // HTML as part of a page, with require.js
	ExportedNoAMD  Host = "nbconvert offline" // the same where require.js could not be loaded
	Plain          Host = "plain page"        // HTML as part of a page of `gander export`
	packagesFolder      = "rendertest"
)

// Hosts lists all front ends.
func Hosts() []Host { return []Host{Lab, Classic, VSCode, Exported, ExportedNoAMD, Plain} }

//go:embed npm
var npm embed.FS

// frontEnds are the front ends' own scripts.
type frontEnds struct{ lab, jquery, require string }

var (
	loadOnce sync.Once
	loaded   *frontEnds
	loadErr  error
)

// load installs the pinned packages below .cache of the repository, once per version of the lock file, and bundles them.
func load() (*frontEnds, error) {
	loadOnce.Do(func() { loaded, loadErr = install() })
	return loaded, loadErr
}

func install() (*frontEnds, error) {
	_, self, _, _ := runtime.Caller(0)
	var sum [32]byte
	for _, name := range []string{"package-lock.json", "lab.js"} {
		b, err := npm.ReadFile("npm/" + name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		sum = sha256.Sum256(append(sum[:], b...))
	}
	cache := filepath.Join(filepath.Dir(self), "..", "..", ".cache", packagesFolder)
	dir := filepath.Join(cache, fmt.Sprintf("%x", sum[:6]))
	if _, err := os.Stat(filepath.Join(dir, "lab.out.js")); err != nil {
		if err := fetch(cache, dir); err != nil {
			return nil, err
		}
	}
	var f frontEnds
	for _, x := range []struct {
		to   *string
		path string
	}{{&f.lab, "lab.out.js"}, {&f.jquery, "jquery.min.js"}, {&f.require, "require.js"}} {
		b, err := os.ReadFile(filepath.Join(dir, x.path))
		if err != nil {
			return nil, fmt.Errorf("reading a front end's script: %w", err)
		}
		*x.to = string(b)
	}
	return &f, nil
}

// fetch installs into a folder of its own and moves the results to dir, so that a broken or parallel run leaves nothing
// half done.
func fetch(cache, dir string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("installing front ends: %w", err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return fmt.Errorf("installing front ends: %w", err)
	}
	work, err := os.MkdirTemp(cache, "install-")
	if err != nil {
		return fmt.Errorf("installing front ends: %w", err)
	}
	defer os.RemoveAll(work)
	for _, name := range []string{"package.json", "package-lock.json", "lab.js"} {
		b, err := npm.ReadFile("npm/" + name)
		if err != nil {
			return fmt.Errorf("installing front ends: %w", err)
		}
		if err := os.WriteFile(filepath.Join(work, name), b, 0o644); err != nil {
			return fmt.Errorf("installing front ends: %w", err)
		}
	}
	for _, c := range [][]string{
		{"npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"},
		{"node_modules/.bin/esbuild", "lab.js", "--bundle", "--minify", "--format=iife", "--outfile=lab.out.js", "--loader:.svg=text", "--log-level=error", `--define:process.env.NODE_ENV="production"`},
	} {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = work
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("installing front ends: %s: %w: %s", c[0], err, out)
		}
	}
	for from, to := range map[string]string{"node_modules/jquery/dist/jquery.min.js": "jquery.min.js", "node_modules/requirejs/require.js": "require.js"} {
		if err := os.Rename(filepath.Join(work, from), filepath.Join(work, to)); err != nil {
			return fmt.Errorf("installing front ends: %w", err)
		}
	}
	if err := os.RemoveAll(filepath.Join(work, "node_modules")); err != nil {
		return fmt.Errorf("installing front ends: %w", err)
	}
	if err := os.Rename(work, dir); err != nil && !os.IsExist(err) {
		if _, there := os.Stat(filepath.Join(dir, "lab.out.js")); there != nil {
			return fmt.Errorf("installing front ends: %w", err)
		}
	}
	return nil
}

// Available skips the test with a loud message where the front ends' packages are neither cached nor to be had.
func Available(t testing.TB, h Host) {
	t.Helper()
	if h == VSCode || h == ExportedNoAMD || h == Plain {
		return
	}
	if _, err := load(); err != nil {
		t.Skipf("SKIPPED: %v; the checks in %s did NOT run (they need npm and its registry once)", err, h)
	}
}

// Output is one output of a cell.
type Output struct {
	HTML    string
	Text    string // text/plain, for hosts that fall back to it
	Trusted bool   // the notebook is trusted
}

// PageOf returns a page on which h shows outputs in order, as in one notebook. window.shown is true when all are in the
// page. In VS Code and in exported pages every output counts as trusted, as there.
func PageOf(h Host, outputs ...Output) (string, error) {
	list, err := json.Marshal(outputs) // escapes < and >, so it is safe in a script
	if err != nil {
		return "", fmt.Errorf("writing a page of %s: %w", h, err)
	}
	head := "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + string(h) + "</title>\n"
	switch h {
	case VSCode:
		return head + `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: https:; font-src data:; connect-src https:; child-src https: data:">
<style>:root{--vscode-editor-background:#1e1e1e;--vscode-editor-foreground:#d4d4d4;--vscode-descriptionForeground:#9d9d9d;--vscode-panel-border:#3c3c3c;--vscode-focusBorder:#007fd4}body{background:#1e1e1e;color:#d4d4d4}</style></head><body class="vscode-dark" data-vscode-theme-kind="vscode-dark"><script>
` + domEval + `for(const o of ` + string(list) + `){const e=document.createElement('div');document.body.append(e);e.innerHTML=o.HTML;domEval(e)}
window.shown=true</script></body></html>`, nil
	case Exported, ExportedNoAMD, Plain:
		var b strings.Builder
		b.WriteString(head)
		if h == Exported {
			f, err := load()
			if err != nil {
				return "", err
			}
			b.WriteString("<script>" + f.require + "</script>")
		}
		b.WriteString("</head><body class=\"jp-Notebook\">")
		for _, o := range outputs {
			b.WriteString("<div class=\"jp-OutputArea-child\"><div class=\"jp-RenderedHTMLCommon jp-RenderedHTML jp-OutputArea-output\" data-mime-type=\"text/html\">\n" + o.HTML + "\n</div></div>\n")
		}
		return b.String() + "<script>window.shown=true</script></body></html>", nil
	}
	f, err := load()
	if err != nil {
		return "", err
	}
	if h == Lab {
		return head + `<style>body{--jp-layout-color0:#fff;--jp-layout-color1:#fff;--jp-layout-color2:#eee;--jp-content-font-color1:rgba(0,0,0,.87);--jp-content-font-color2:rgba(0,0,0,.54);--jp-border-color2:#e0e0e0;--jp-brand-color1:#1976d2;--jp-ui-font-family:sans-serif;background:#fff}</style></head><body data-jp-theme-light="true" data-jp-theme-name="JupyterLab Light"><script>` + f.lab + `</script><script>
(async()=>{window.mimes=[];for(const o of ` + string(list) + `)window.mimes.push(await showInLab({'text/html':o.HTML,'text/plain':o.Text},o.Trusted));window.shown=true})()</script></body></html>`, nil
	}
	return head + "<script>" + f.require + "</script><script>define('jquery',[],()=>0);</script><script>var keep=define;define=undefined;" + f.jquery + ";define=keep</script></head><body><div id=\"nb\"></div><script>\n" + cleanLikeClassic +
		`for(const o of ` + string(list) + `){const e=$('<div class="output_html rendered_html">').appendTo('#nb');e.html(o.Trusted?o.HTML:cleanLikeClassic(o.HTML))}
window.shown=true</script></body></html>`, nil
}

// domEval is VS Code's way of running the scripts of an output: a copy that keeps few attributes, added and removed at
// once.
const domEval = `function domEval(container){for(const n of [...container.getElementsByTagName('script')]){const s=document.createElement('script');for(const k of ['type','src','nonce','noModule','async']){const v=n[k]||n.getAttribute&&n.getAttribute(k);if(v)s.setAttribute(k,v.toString?v.toString():v)}s.text=n.innerText;container.appendChild(s).parentNode.removeChild(s)}}
`

// cleanLikeClassic does what Notebook 6's sanitiser does to untrusted HTML: scripts, frames and drawings go, styles are
// destroyed.
const cleanLikeClassic = `function cleanLikeClassic(h){const d=new DOMParser().parseFromString(h,'text/html');d.querySelectorAll('script,iframe,svg,object,embed,style,link').forEach(e=>e.remove());d.querySelectorAll('*').forEach(e=>{for(const a of [...e.attributes])if(/^on|^data-|^id$/.test(a.name))e.removeAttribute(a.name);if(e.hasAttribute('style'))e.setAttribute('style','undefined:undefined')});return d.body.innerHTML}
`
