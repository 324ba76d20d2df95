package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// Module is one nn.Module of the module view with what it contains. Times are ns summed over its calls.
type Module struct {
	Name       string   `json:"name"`
	ID         int64    `json:"id"`
	Calls      int64    `json:"calls"`
	Operators  int64    `json:"operators"` // called directly by it
	Host       int64    `json:"host"`
	HostSelf   int64    `json:"host_self"`
	Device     int64    `json:"device"`
	DeviceSelf int64    `json:"device_self"`
	Children   []Module `json:"children"`
}

// ModuleReport is the module view, empty when no module was recorded.
type ModuleReport struct {
	Roots []Module `json:"roots"`
}

// Modules returns the module view of t.
func Modules(t *trace.Trace) *ModuleReport { return Of(t).Modules() }

// Modules returns the module view.
//
//  1. A call of a module is a node of the operator tree; its caller is the next module up its chain of Python calls, or,
//     in sources without Python ids, up the operator tree.
//  2. Calls of one module (name and id) under one caller make one row.
//  3. Work of the backward pass belongs to the module of the forward operator that a fwdbwd arrow links to it: it makes a
//     row "<module>.backward" beside the module's.
func (a *Analysis) Modules() *ModuleReport { return a.ModulesAs(Exact) }

// ModulesAs returns the module view with the operator tree of convention c.
func (a *Analysis) ModulesAs(c Convention) *ModuleReport {
	b := moduleBuilder{tree: a.opTree(c), t: a.Trace}
	b.find()
	if len(b.modules) == 0 {
		return &ModuleReport{Roots: []Module{}}
	}
	b.callers()
	b.sum()
	b.backward()
	return &ModuleReport{Roots: b.children(-1)}
}

type moduleBuilder struct {
	t       *trace.Trace
	tree    *opTree
	modules []int32 // slices, in the tree's order
	caller  map[int32]int32
	rows    []Module
	parent  []int           // by row
	row     map[int32]int   // by module slice
	lookup  map[pathKey]int // row by caller's row, name and id
}

type pathKey struct {
	parent   int
	name     trace.StringID
	id       int64
	backward bool
}

func (b *moduleBuilder) isModule(i int32) bool {
	return b.tree.x.class[i] == trace.ClassPython && strings.HasPrefix(b.t.Name(&b.t.Slices[i]), modulePrefix)
}

func (b *moduleBuilder) find() {
	for _, i := range b.tree.order {
		if b.isModule(i) {
			b.modules = append(b.modules, i)
		}
	}
}

func (b *moduleBuilder) call(i int32) *trace.CallArgs {
	if s := &b.t.Slices[i]; s.Kind == trace.ArgCall {
		return &b.t.Calls[s.Args]
	}
	return nil
}

func (b *moduleBuilder) callers() {
	byID := map[int64]int32{}
	for i, c := range b.tree.x.class {
		if c != trace.ClassPython {
			continue
		}
		if call := b.call(int32(i)); call != nil && call.ID >= 0 {
			byID[call.ID] = int32(i)
		}
	}
	b.caller = make(map[int32]int32, len(b.modules))
	for _, m := range b.modules {
		b.caller[m] = trace.NoSlice
		call := b.call(m)
		if call == nil || call.ID < 0 {
			for p := b.tree.parent[m]; p >= 0; p = b.tree.parent[p] {
				if b.isModule(p) {
					b.caller[m] = p
					break
				}
			}
			continue
		}
		for hops := 0; call != nil && call.Parent >= 0 && hops < maxPythonDepth; hops++ {
			p, ok := byID[call.Parent]
			if !ok {
				break
			}
			if b.isModule(p) {
				b.caller[m] = p
				break
			}
			call = b.call(p)
		}
	}
}

// maxPythonDepth bounds the walk up a chain of Python calls, whose ids come from the file and may form a circle.
const maxPythonDepth = 10_000

func (b *moduleBuilder) rowOf(m int32, depth int) int {
	if r, ok := b.row[m]; ok {
		return r
	}
	parent := -1
	if p := b.caller[m]; p >= 0 && depth < maxModuleDepth {
		parent = b.rowOf(p, depth+1)
	}
	key := pathKey{parent: parent, name: b.t.Slices[m].Name, id: -1}
	if call := b.call(m); call != nil {
		key.id = call.Module
	}
	r := b.newRow(key, strings.TrimPrefix(b.t.Strings.Get(key.name), modulePrefix))
	b.row[m] = r
	return r
}

// maxModuleDepth bounds the nesting of modules shown.
const maxModuleDepth = 1000

func (b *moduleBuilder) newRow(key pathKey, name string) int {
	r, ok := b.lookup[key]
	if !ok {
		r = len(b.rows)
		b.lookup[key] = r
		b.rows = append(b.rows, Module{Name: name, ID: key.id})
		b.parent = append(b.parent, key.parent)
	}
	return r
}

func (b *moduleBuilder) sum() {
	b.row, b.lookup = map[int32]int{}, map[pathKey]int{}
	for _, m := range b.modules {
		row := &b.rows[b.rowOf(m, 0)]
		row.Calls++
		row.Host += b.t.Slices[m].Dur
		row.HostSelf += b.tree.hostSelf[m]
		row.Device += b.tree.devTotal[m]
	}
	for _, i := range b.tree.order {
		p := b.tree.parent[i]
		if p < 0 || !b.isModule(p) || !b.tree.isOp(i) {
			continue
		}
		row := &b.rows[b.rowOf(p, 0)]
		row.Operators++
		row.DeviceSelf += b.tree.devTotal[i]
	}
}

func (b *moduleBuilder) backward() {
	claimed := map[int32]int{}
	var ops []int32
	for i := range b.t.Flows {
		f := &b.t.Flows[i]
		if f.Kind != trace.FlowBackward || f.From < 0 || f.To < 0 {
			continue
		}
		from := f.From
		for from >= 0 && !b.isModule(from) {
			from = b.tree.parent[from]
		}
		if from < 0 {
			continue
		}
		module := b.rowOf(from, 0)
		to := f.To
		if b.tree.same != nil {
			to = b.tree.same[to]
		}
		if _, twice := claimed[to]; !twice {
			ops = append(ops, to)
		}
		claimed[to] = module
	}
	for _, op := range ops {
		module := claimed[op]
		if p := b.tree.parent[op]; p >= 0 {
			if m, ok := claimed[p]; ok && m == module {
				continue // counted with its caller
			}
		}
		r := b.newRow(pathKey{parent: b.parent[module], id: int64(module), backward: true}, b.rows[module].Name+".backward")
		row := &b.rows[r]
		row.ID = b.rows[module].ID
		row.Calls++
		row.Operators++
		row.Host += b.t.Slices[op].Dur
		row.HostSelf += b.tree.hostSelf[op]
		row.Device += b.tree.devTotal[op]
		row.DeviceSelf += b.tree.devTotal[op]
	}
}

// children returns the rows under row parent, in order of first call; roots by name.
func (b *moduleBuilder) children(parent int) []Module {
	under := make([][]int, len(b.rows)+1)
	for r, p := range b.parent {
		under[p+1] = append(under[p+1], r)
	}
	var build func(r int) []Module
	build = func(r int) []Module {
		out := []Module{}
		for _, c := range under[r+1] {
			m := b.rows[c]
			m.Children = build(c)
			out = append(out, m)
		}
		return out
	}
	roots := build(parent)
	slices.SortStableFunc(roots, func(p, q Module) int { return strings.Compare(p.Name, q.Name) })
	return roots
}

// Text returns the modules as an indented table.
func (r *ModuleReport) Text() string {
	t := textTable{header: []string{"Module", "Calls", "Operators", "Host total", "Host self", "Device total", "Device self"}}
	var add func(list []Module, depth int)
	add = func(list []Module, depth int) {
		for i := range list {
			m := &list[i]
			t.add(strings.Repeat("  ", min(depth, 20))+m.Name, strconv.FormatInt(m.Calls, 10), strconv.FormatInt(m.Operators, 10),
				formatTime(float64(m.Host), ""), formatTime(float64(m.HostSelf), ""), formatTime(float64(m.Device), ""), formatTime(float64(m.DeviceSelf), ""))
			add(m.Children, depth+1)
		}
	}
	add(r.Roots, 0)
	return t.String()
}
