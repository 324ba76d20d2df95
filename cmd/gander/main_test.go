package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary stand in for the program.
func TestMain(m *testing.M) {
	if os.Getenv("GANDER_TEST_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// gander runs the program.
func gander(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GANDER_TEST_MAIN=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

const tinyTrace = `{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":5.5},{"ph":"X","cat":"cpu_op","name":"aten::mul","pid":1,"tid":1,"ts":10,"dur":2}]}`

func notebookOf(cells ...string) string {
	var list []map[string]any
	for i, c := range cells {
		list = append(list, map[string]any{"cell_type": "code", "id": string(rune('a' + i)), "metadata": map[string]any{}, "source": c, "outputs": []any{}, "execution_count": nil})
	}
	b, _ := json.Marshal(map[string]any{"cells": list, "metadata": map[string]any{}, "nbformat": 4, "nbformat_minor": 5})
	return string(b)
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"t.json": tinyTrace, "u.json": strings.ReplaceAll(tinyTrace, "5.5", "7.5"), "bad.json": "no trace", "old.ipynb": `{"nbformat": 3}`,
		"good.ipynb": notebookOf("x := 20", "fmt.Println(x + 22)"), "fails.ipynb": notebookOf("y := 1", "undefined + y", "fmt.Println(\"never\")"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		args           string
		code           int
		stdout, stderr string // parts of what is printed
	}{
		{"version", 0, "gander 0.", ""},
		{"version --json", 0, `"version": "0.`, ""},
		{"", 0, "Usage:", ""},
		{"nonsense", 2, "", `there is no command "nonsense"`},
		{"version --nonsense", 2, "", "hint: 'gander version --help'"},
		{"run", 2, "", "takes one notebook"},
		{"run nowhere.ipynb", 1, "", "nowhere.ipynb"},
		{"run old.ipynb", 1, "", "only 4 is supported"},
		{"run good.ipynb -o out.ipynb --echo", 0, "42", ""},
		{"run good.ipynb -p novalue", 2, "", "NAME=VALUE"},
		{"run fails.ipynb -o failed.ipynb", 1, "", "undefined: undefined"},
		{"export out.ipynb -o out.html", 0, "", "wrote out.html"},
		{"export nowhere.ipynb", 1, "", "nowhere.ipynb"},
		{"report", 2, "", "needs a trace"},
		{"report t.json --sort nonsense", 2, "", "--sort"},
		{"report t.json --group-by nonsense", 2, "", "there are shape"},
		{"report bad.json", 1, "", "bad.json"},
		{"report nowhere.json", 1, "", "nowhere.json"},
		{"report t.json", 0, "t.html", ""},
		{"report t.json --csv", 0, "aten::add", ""},
		{"report t.json --json --sort self_cpu_time_total", 0, `"self_cpu_time_total": 5500`, ""},
		{"report t.json --text --columns torch", 0, "Self CPU time total: 7.500us", ""},
		{"diff t.json", 2, "", "takes two traces"},
		{"diff t.json u.json --text", 0, "aten::add", ""},
		{"serve nowhere", 1, "", "nowhere"},
		{"serve t.json", 2, "", "is no folder"},
		{"kernel", 2, "", "connection file"},
	} {
		code, stdout, stderr := gander(t, dir, strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) {
			t.Errorf("gander %s: exit code %d, want %d\nstdout: %s\nwants %q\nstderr: %s\nwants %q", tc.args, code, tc.code, stdout, tc.stdout, stderr, tc.stderr)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "out.html"))
	if err != nil || !bytes.Contains(page, []byte("42")) {
		t.Errorf("the exported page lacks the output: %v", err)
	}
	failed, err := os.ReadFile(filepath.Join(dir, "failed.ipynb"))
	if err != nil || !bytes.Contains(failed, []byte("CompileError")) || bytes.Contains(failed, []byte("\"never\\n\"")) {
		t.Errorf("the failed notebook does not hold the error, or ran on: %v", err)
	}
}

// TestNoNVIDIALibraries makes sure that the program starts on machines without a driver.
func TestNoNVIDIALibraries(t *testing.T) {
	ldd, err := exec.LookPath("ldd")
	if err != nil {
		t.Skip("SKIPPED: there is no ldd here")
	}
	out, _ := exec.Command(ldd, os.Args[0]).CombinedOutput()
	for _, lib := range []string{"libcuda", "libcupti", "libnvidia", "libnvrtc"} {
		if bytes.Contains(out, []byte(lib)) {
			t.Errorf("the program is linked with %s:\n%s", lib, out)
		}
	}
}
