// Package rendertest shows HTML in a real browser inside the pages that notebooks show it in: a stand-in of each host
// that treats an output as the host does. Tests of any package can feed it any fragment.
//
// It is for tests only. Its one invariant: a page that it opened has no network, so whatever a test sees came with the
// HTML.
package rendertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is one running Chromium.
type Browser struct {
	ctx  context.Context
	stop []func()
}

// Chromium returns the path of the browser, or an error that says where it looked. GANDER_CHROMIUM names another one.
func Chromium() (string, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
	if p := os.Getenv("GANDER_CHROMIUM"); p != "" {
		names = []string{p}
	}
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("looking for a browser: none of %s is installed", strings.Join(names, ", "))
}

// Open starts a browser for the length of the test. It skips the test with a loud message where there is none.
func Open(t testing.TB) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short; the browser checks did NOT run")
	}
	if _, err := Chromium(); err != nil {
		t.Skipf("SKIPPED: %v; the browser checks did NOT run (install Chromium or set GANDER_CHROMIUM)", err)
	}
	b, err := Launch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// Launch starts a browser. The caller must Close it.
func Launch(ctx context.Context) (*Browser, error) {
	path, err := Chromium()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gander-browser-")
	if err != nil {
		return nil, fmt.Errorf("starting a browser: %w", err)
	}
	b := &Browser{}
	alloc, cancel := chromedp.NewExecAllocator(ctx, chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(time.Minute), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", false),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	var stop context.CancelFunc
	b.ctx, stop = chromedp.NewContext(alloc)
	b.stop = []func(){stop, cancel, func() { os.RemoveAll(dir) }}
	if err := chromedp.Do(b.ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return b, nil
}

// Close ends the browser and removes its files. It may be called more than once.
func (b *Browser) Close() {
	for _, f := range b.stop {
		f()
	}
	b.stop = nil
}

// View says how a page is shown. The zero value is a light page, 1280 by 900.
type View struct {
	Dark          bool
	Width, Height int
	ReducedMotion bool
	Limit         time.Duration // how long the page may be used; 0 is three minutes
}

// Page is one open tab.
type Page struct {
	ctx    context.Context
	close  []func()
	mu     sync.Mutex // guards errors and loads
	errors []string
	loads  []string
}

// Show serves html from the local machine and opens it. The caller must Close the page.
func (b *Browser) Show(html string, v View) (*Page, error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	}))
	p, err := b.Visit(server.URL+"/", v)
	if err != nil {
		server.Close()
		return nil, err
	}
	p.close = append(p.close, server.Close)
	return p, nil
}

// Visit opens url.
func (b *Browser) Visit(url string, v View) (*Page, error) {
	ctx, cancel := chromedp.NewContext(b.ctx)
	if v.Limit == 0 {
		v.Limit = 3 * time.Minute
	}
	ctx, stop := context.WithTimeout(ctx, v.Limit)
	p := &Page{ctx: ctx, close: []func(){stop, cancel}}
	err := chromedp.Listen(ctx, func(ev any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if x := e.ExceptionDetails.Exception; x != nil {
				text += " " + x.Description
			}
			p.errors = append(p.errors, text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError {
				var s []string
				for _, a := range e.Args {
					s = append(s, string(a.Value)+a.Description)
				}
				p.errors = append(p.errors, "console.error: "+strings.Join(s, " "))
			}
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") && !strings.HasPrefix(u, url) && !strings.HasSuffix(u, "/favicon.ico") {
				p.loads = append(p.loads, u)
			}
		}
	})
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("opening %s: %w", url, err)
	}
	scheme, motion := "light", "no-preference"
	if v.Dark {
		scheme = "dark"
	}
	if v.ReducedMotion {
		motion = "reduce"
	}
	if v.Width == 0 {
		v.Width, v.Height = 1280, 900
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		p.Close()
		return nil, fmt.Errorf("opening %s: %w", url, err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		p.Close()
		return nil, fmt.Errorf("opening %s: %w", url, err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(int64(v.Width), int64(v.Height)), chromedp.Navigate(url)); err != nil {
		p.Close()
		return nil, fmt.Errorf("opening %s: %w", url, err)
	}
	return p, nil
}

// Close closes the tab.
func (p *Page) Close() {
	for _, f := range p.close {
		f()
	}
	p.close = nil
}

// Errors returns uncaught exceptions and what the page wrote with console.error.
func (p *Page) Errors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.errors...)
}

// Loads returns the addresses that the page asked for, other than its own.
func (p *Page) Loads() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.loads...)
}

// Eval evaluates a JavaScript expression in the page, awaits it when it is a promise, and decodes the result.
func Eval[T any](p *Page, expr string) (T, error) {
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expr, chromedp.EvalAwaitPromise))
	if err != nil && !errors.Is(err, chromedp.ErrJSUndefined) && !errors.Is(err, chromedp.ErrJSNull) {
		return v, fmt.Errorf("evaluating %q: %w", expr, err)
	}
	return v, nil
}

// Wait waits until the JavaScript expression is true.
func (p *Page) Wait(expr string) error {
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool]("!!("+expr+")", chromedp.WithPollingTimeout(40*time.Second), chromedp.WithPollingInterval(30*time.Millisecond)))
	if err != nil {
		return fmt.Errorf("waiting for %q: %w (errors of the page: %v)", expr, err, p.Errors())
	}
	return nil
}

// Settled is true once every output of the page is live or has failed.
const Settled = `document.querySelectorAll('.gpk').length>0&&[...document.querySelectorAll('.gpk')].every(n=>n.dataset.state==='live'||n.dataset.state==='failed')`

// Screenshot returns the visible part of the page as PNG.
func (p *Page) Screenshot() ([]byte, error) {
	return chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
}

// Keys types into what has the focus.
func (p *Page) Keys(keys string) error { return chromedp.Do(p.ctx, chromedp.KeyEvent(keys)) }

// Pointer sends one mouse event; modifiers are Alt 1, Ctrl 2, Meta 4, Shift 8.
func (p *Page) Pointer(kind input.DispatchMouseEventType, x, y float64, modifiers int64, dy float64) error {
	ev := input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Modifiers: modifiers, DeltaY: dy}
	if kind == input.DispatchMouseEventTypeMousePressed || kind == input.DispatchMouseEventTypeMouseReleased {
		ev.Button, ev.ClickCount = input.MouseButtonLeft, 1
	}
	if kind == input.DispatchMouseEventTypeMouseWheel {
		ev.DeltaX = 1e-6 // the protocol wants both, and the client leaves zeros out
	}
	if _, err := chromedp.Call(p.ctx, input.DispatchMouseEvent, ev); err != nil {
		return fmt.Errorf("sending %s: %w", kind, err)
	}
	return nil
}

// Drag presses at one point, moves to another and releases there.
func (p *Page) Drag(x0, y0, x1, y1 float64, modifiers int64) error {
	if err := p.Pointer(input.DispatchMouseEventTypeMousePressed, x0, y0, modifiers, 0); err != nil {
		return err
	}
	for i := 1; i <= 5; i++ {
		f := float64(i) / 5
		ev := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: x0 + (x1-x0)*f, Y: y0 + (y1-y0)*f, Modifiers: modifiers, Button: input.MouseButtonLeft, Buttons: 1}
		if _, err := chromedp.Call(p.ctx, input.DispatchMouseEvent, ev); err != nil {
			return fmt.Errorf("dragging: %w", err)
		}
	}
	return p.Pointer(input.DispatchMouseEventTypeMouseReleased, x1, y1, modifiers, 0)
}
