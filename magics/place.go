package magics

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/gander-go/gander/kernel/cell"
)

func init() {
	register(magic{name: "cd", use: "%cd [DIR]", help: "changes the working directory of the session and of shell commands", line: cdLine, check: func(m *call) error { _, err := m.oneWord("folder", true); return err }})
	register(magic{name: "pwd", use: "%pwd", help: "shows the working directory", check: noArgs, line: func(m *call) *cell.Result {
		m.mu.Lock()
		defer m.mu.Unlock()
		return textResult(m.dir)
	}})
	register(magic{name: "env", use: "%env [NAME[=VALUE]]", help: "shows environment variables, or sets one for the session and shell commands", line: envLine})
}

// cdLine runs %cd. Without a folder it goes home.
func cdLine(m *call) *cell.Result {
	name, err := m.oneWord("folder", true)
	if err != nil {
		return m.failure(err)
	}
	if name == "" {
		name = "~"
	}
	dir := m.path(expandHome(name))
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = errors.New("it is no folder")
	}
	if err != nil {
		return m.failure(fmt.Errorf("changing directory to %s: %w", name, bare(err)))
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return m.failure(fmt.Errorf("changing directory: %w", err))
	}
	r, _ := m.lang.Run(m.ctx, m.cell, fmt.Sprintf(`import gander_os "os"; if err := gander_os.Chdir(%q); err != nil { panic(err) }`, dir), m.line, RunOptions{Quiet: true}, m.out, m.in)
	if r.Err != nil {
		return r
	}
	m.mu.Lock()
	m.dir = dir
	m.mu.Unlock()
	m.out.Stream(cell.Stdout, dir+"\n")
	return &cell.Result{}
}

func expandHome(p string) string {
	if home, err := os.UserHomeDir(); err == nil && (p == "~" || strings.HasPrefix(p, "~/")) {
		return home + p[1:]
	}
	return p
}

// envLine runs %env.
func envLine(m *call) *cell.Result {
	name, value, set := strings.Cut(m.args, "=")
	if !set {
		name, value, set = strings.Cut(m.args, " ")
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if name == "" {
		return textResult(m.environment())
	}
	if !set {
		v, ok := m.lookupEnv(name)
		if !ok {
			return m.failure(fmt.Errorf("there is no environment variable %s", name))
		}
		return textResult(v)
	}
	if s, err := strconv.Unquote(value); err == nil {
		value = s
	}
	r, _ := m.lang.Run(m.ctx, m.cell, fmt.Sprintf(`import gander_os "os"; if err := gander_os.Setenv(%q, %q); err != nil { panic(err) }`, name, value), m.line, RunOptions{Quiet: true}, m.out, m.in)
	if r.Err != nil {
		return r
	}
	m.mu.Lock()
	m.env[name] = value
	m.mu.Unlock()
	m.out.Stream(cell.Stdout, fmt.Sprintf("env: %s=%s\n", name, value))
	return &cell.Result{}
}

func (m *call) lookupEnv(name string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.env[name]; ok {
		return v, true
	}
	return os.LookupEnv(name)
}

func (m *call) environment() string {
	all := map[string]string{}
	for _, kv := range os.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		all[k] = v
	}
	m.mu.Lock()
	for k, v := range m.env {
		all[k] = v
	}
	m.mu.Unlock()
	var lines []string
	for k, v := range all {
		lines = append(lines, k+"="+v)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}
