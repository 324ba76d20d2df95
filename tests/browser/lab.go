package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gander-go/gander/render/rendertest"
)

// lab is a running JupyterLab server and a browser page on it.
type lab struct {
	t    *testing.T
	url  string
	root string // folder that the server shows

	browser *rendertest.Browser
	page    *rendertest.Page
}

// need returns an environment variable that tools/test-browser.sh sets, and skips loudly without it.
func need(t *testing.T, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Skipf("SKIPPED: %s is not set; the tests in JupyterLab did NOT run ('make test-browser' runs them)", name)
	}
	return v
}

// startLab starts a server over a copy of files and a browser.
func startLab(t *testing.T, files ...string) *lab {
	t.Helper()
	python := need(t, "GANDER_PYTHON")
	l := &lab{t: t, root: t.TempDir()}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(l.root, filepath.Base(f)), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l.serve(python)
	l.browser = rendertest.Open(t)
	return l
}

func (l *lab) serve(python string) {
	t := l.t
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).Port
	ln.Close()
	const token = "gander-test"
	home := t.TempDir()
	cmd := exec.Command(python, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser",
		fmt.Sprintf("--ServerApp.port=%d", port), "--ServerApp.port_retries=0", "--ServerApp.ip=127.0.0.1", "--IdentityProvider.token="+token,
		"--ServerApp.root_dir="+l.root, "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+cacheHome(t), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"),
		"JUPYTER_CONFIG_DIR="+filepath.Join(home, "config"), "JUPYTER_DATA_DIR="+filepath.Join(home, "data"), "JUPYTER_RUNTIME_DIR="+filepath.Join(home, "run"))
	settings := filepath.Join(home, "config", "lab", "user-settings", "@jupyterlab", "apputils-extension")
	if err := os.MkdirAll(settings, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(settings, "notification.jupyterlab-settings"), []byte(`{"fetchNews": "false", "checkForUpdates": false}`), 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(home, "lab.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		cmd.Wait()
		log.Close()
		if t.Failed() {
			b, _ := os.ReadFile(log.Name())
			t.Logf("JupyterLab said:\n%s", b)
		}
	})
	l.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get(l.url + "/api/status?token=" + token)
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(end) {
			t.Fatalf("JupyterLab does not answer: %v", err)
		}
	}
	l.url += "/lab/tree/%s?reset&token=" + token
}

// cacheHome keeps the session program that was built already, whatever HOME is.
func cacheHome(t *testing.T) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func goEnv(t *testing.T, name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// open shows a notebook and waits for its kernel.
func (l *lab) open(name string) {
	l.t.Helper()
	if l.page != nil {
		l.page.Close()
	}
	p, err := l.browser.Visit(fmt.Sprintf(l.url, name), rendertest.View{Width: 1400, Height: 1000, Limit: 8 * time.Minute})
	if err != nil {
		l.t.Fatal(err)
	}
	l.page = p
	l.t.Cleanup(p.Close)
	l.wait("the notebook to open", `(() => {
		const w = window.jupyterapp && window.jupyterapp.shell.currentWidget;
		return !!(w && w.content && w.content.model && w.context && w.context.isReady && w.context.path === `+quote(name)+` &&
			w.sessionContext.session && w.sessionContext.session.kernel && w.sessionContext.session.kernel.status === 'idle');
	})()`)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// eval runs JavaScript in the page; a promise is awaited.
func eval[T any](l *lab, js string) T {
	l.t.Helper()
	v, err := rendertest.Eval[T](l.page, js)
	if err != nil {
		l.screenshot("failure")
		l.t.Fatal(err)
	}
	return v
}

// do runs JavaScript for what it does.
func (l *lab) do(js string) {
	l.t.Helper()
	eval[bool](l, js)
}

// command executes a command of JupyterLab.
func (l *lab) command(id string) {
	l.t.Helper()
	l.do(`window.jupyterapp.commands.execute(` + quote(id) + `).then(() => true)`)
}

// wait waits until the expression is true.
func (l *lab) wait(what, js string) {
	l.t.Helper()
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		ok, err := rendertest.Eval[bool](l.page, "!!("+js+")")
		if err == nil && ok {
			return
		}
		if time.Now().After(end) {
			l.screenshot("failure")
			l.t.Fatalf("waiting for %s: it did not come (%v)", what, err)
		}
	}
}

// screenshot keeps a picture of the page as an artefact.
func (l *lab) screenshot(name string) {
	dir := os.Getenv("GANDER_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := l.page.Screenshot()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		l.t.Logf("taking screenshot %s: %v", name, err)
	}
}
