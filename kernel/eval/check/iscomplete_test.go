package check_test

import (
	"testing"

	"github.com/gander-go/gander/kernel/eval/check"
)

func TestIsComplete(t *testing.T) {
	tests := []struct{ code, status, indent string }{
		{"", "complete", ""},
		{"\n\n", "complete", ""},
		{"x := 1", "complete", ""},
		{"func f() {", "incomplete", "\t"},
		{"func f() {\n\tif x {", "incomplete", "\t\t"},
		{"func f() {\n\tx := 1", "incomplete", "\t"},
		{"import = 7q", "invalid", ""},
		{"x := 1 +", "incomplete", "\t"},
		{"x := f(1,", "incomplete", ""},
		{"x := f(", "incomplete", "\t"},
		{"fmt.Println(\"a\")", "complete", ""},
		{"type T struct {\n\tA int\n}", "complete", ""},
		{"s := `raw", "incomplete", ""},
		{"/* open", "incomplete", ""},
		{"// only a comment", "complete", ""},
		{"x := \"open", "invalid", ""},
		{"for i := 0; i < 3; i++ {\n\tfmt.Println(i)\n}", "complete", ""},
		{"for i := 0; i < 3; i++", "invalid", ""},
		{"if x", "invalid", ""},
		{"if", "incomplete", "\t"},
		{"x := }", "invalid", ""},
		{"}", "invalid", ""},
		{"f())", "invalid", ""},
		{"x := 1; y :=", "incomplete", "\t"},
		{"x = = 2\nfunc f() {", "invalid", ""},
		{"switch x {\ncase 1:", "incomplete", "\t"},
		{"package main\nfunc main() {}", "complete", ""},
		{"a, b := 1, 2\na", "complete", ""},
		{"x.", "incomplete", "\t"},
		{"var (", "incomplete", "\t"},
		{"größe := \"ä\"", "complete", ""},
		{"func (t T) M()", "complete", ""},
		{"go func() {}", "invalid", ""},
	}
	for _, tt := range tests {
		if got := check.IsComplete(tt.code); got.Status != tt.status || got.Indent != tt.indent {
			t.Errorf("IsComplete(%q) = %q indent %q, want %q indent %q", tt.code, got.Status, got.Indent, tt.status, tt.indent)
		}
	}
}
