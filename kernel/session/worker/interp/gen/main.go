// Command gen writes the symbol tables of kernel/session/worker/interp: for each package of interp.Packages its exported
// constants, variables, functions and types, as yaegi wants them, and the instances of generic functions in interp.Instances. For the rest of
// the standard library it writes the same into worker/interp/std, and what is generic as declarations for the checker.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/gander-go/gander/kernel/eval/interp"
)

// left are the standard packages that no session carries: those that change what the process is by being linked (plugin, the race and
// coverage runtimes, cgo, the handlers that net/http/pprof and expvar install, the time zones of time/tzdata), and those for tests.
var left = []string{"plugin", "runtime/cgo", "runtime/race", "runtime/coverage", "net/http/pprof", "expvar", "time/tzdata", "testing", "builtin", "unsafe"}

func isLeft(path string) bool {
	return slices.Contains(left, path) || strings.HasPrefix(path, "testing/") || path == "crypto/mlkem/mlkemtest" ||
		strings.HasPrefix(path, "vendor/") || slices.Contains(strings.Split(path, "/"), "internal")
}

func main() {
	out, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		log.Fatal(err)
	}
	var rest []string
	for _, p := range strings.Fields(string(out)) {
		if !isLeft(p) && !slices.Contains(interp.Packages, p) {
			rest = append(rest, p)
		}
	}
	pkgs := load(slices.Concat(interp.Packages, rest))
	write("tables_gen.go", "", "interp", "tables", pkgs[:len(interp.Packages)])
	writeInstances()
	write("std/tables_gen.go", "linux", "std", "", without(pkgs[len(interp.Packages):], "syscall"))
	write("std/syscall_gen.go", "linux && amd64", "std", "", only(pkgs, "syscall"))
	writeGeneric(pkgs)
}

// load returns packages in the order of their paths' list.
func load(paths []string) []*packages.Package {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports}, paths...)
	if err != nil {
		log.Fatal(err)
	}
	if packages.PrintErrors(pkgs) > 0 {
		os.Exit(1)
	}
	slices.SortFunc(pkgs, func(a, b *packages.Package) int {
		return slices.Index(paths, a.PkgPath) - slices.Index(paths, b.PkgPath)
	})
	return pkgs
}

func without(pkgs []*packages.Package, path string) []*packages.Package {
	return slices.DeleteFunc(slices.Clone(pkgs), func(p *packages.Package) bool { return p.PkgPath == path })
}

func only(pkgs []*packages.Package, path string) []*packages.Package {
	return slices.DeleteFunc(slices.Clone(pkgs), func(p *packages.Package) bool { return p.PkgPath != path })
}

func alias(path string) string {
	return "p_" + strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(path)
}

// write writes the tables of packages. table is the map that they are put into; where there is none they are registered.
func write(file, constraint, name, table string, pkgs []*packages.Package) {
	imports := []string{"go/constant", "go/token", "reflect"}
	var body, named bytes.Buffer
	body.WriteString("func init() {\n")
	for _, p := range pkgs {
		fmt.Fprintf(&named, "\t%s %q\n", alias(p.PkgPath), p.PkgPath)
		head, tail := fmt.Sprintf("tables[%q] = ", p.PkgPath), ""
		if table == "" {
			head, tail = fmt.Sprintf("interp.Register(%q, ", p.PkgPath), ")"
		}
		fmt.Fprintf(&body, "\t%sfunc() map[string]reflect.Value {\n\t\treturn map[string]reflect.Value{\n", head)
		scope, used := p.Types.Scope(), false
		for _, name := range scope.Names() {
			if obj := scope.Lookup(name); obj.Exported() {
				if v := value(alias(p.PkgPath)+"."+name, obj); v != "" {
					used = used || strings.Contains(v, alias(p.PkgPath)+".")
					fmt.Fprintf(&body, "\t\t\t%q: %s,\n", name, v)
				}
			}
		}
		fmt.Fprintf(&body, "\t\t}\n\t}%s\n", tail)
		if !used { // nothing in it has a value
			named.Truncate(named.Len() - len(fmt.Sprintf("\t%s %q\n", alias(p.PkgPath), p.PkgPath)))
		}
	}
	body.WriteString("}\n")
	extra := ""
	if table == "" {
		extra = "\n\t\"github.com/gander-go/gander/kernel/session/worker/interp\"\n"
	}
	if !bytes.Contains(body.Bytes(), []byte("constant.")) {
		imports = imports[2:]
	}
	save(file, constraint, name, imports, named.String()+extra, body.String())
}

func writeInstances() {
	var body bytes.Buffer
	named := ""
	body.WriteString("func init() {\n")
	for _, path := range slices.Sorted(maps.Keys(interp.Instances)) {
		named += fmt.Sprintf("\t%s %q\n", alias(path), path)
		fmt.Fprintf(&body, "\tinstances[%q] = func() map[string]reflect.Value {\n\t\treturn map[string]reflect.Value{\n", path)
		for _, name := range slices.Sorted(maps.Keys(interp.Instances[path])) {
			for _, args := range interp.Instances[path][name] {
				in := fmt.Sprintf("%s[%s]", name, args)
				fmt.Fprintf(&body, "\t\t\t%q: reflect.ValueOf(%s.%s),\n", in, alias(path), in)
			}
		}
		body.WriteString("\t\t}\n\t}\n")
	}
	body.WriteString("}\n")
	save("instances_gen.go", "", "interp", []string{"reflect", "time"}, named, body.String())
}

func save(file, constraint, name string, imports []string, named, body string) {
	var b bytes.Buffer
	b.WriteString("// Code generated by gen. DO NOT EDIT.\n\n")
	if constraint != "" {
		fmt.Fprintf(&b, "//go:build %s\n\n", constraint)
	}
	b.WriteString("//lint:file-ignore SA1019 the tables hold what the packages export, also what is deprecated\n\n")
	fmt.Fprintf(&b, "package %s\n\nimport (\n", name)
	for _, i := range imports {
		fmt.Fprintf(&b, "\t%q\n", i)
	}
	b.WriteString("\n" + named + ")\n\n" + body)
	src, err := format.Source(b.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, src, 0o644); err != nil {
		log.Fatal(err)
	}
}
