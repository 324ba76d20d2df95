package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/gander-go/gander/kernel/eval/check"
	"github.com/gander-go/gander/kernel/session/link"
)

// session is the name under which lowered code imports the session's own symbols.
const session = "gander__"

// smallLoop is the number of rounds up to which a loop is worth interpreting: a round costs about a microsecond,
// compiling a cell half a second.
const smallLoop = 10_000

// lowering writes the Go file for one cell. Statements keep the user's structure; every expression that go/types knows
// the value of becomes a literal, every session variable x becomes (*v__x).
type lowering struct {
	c    *check.Checked
	opts Options
	show bool

	out      strings.Builder
	vars     []link.Var
	names    map[string]bool   // session names used, with their prefix
	packages map[string]string // import path -> alias
	foreign  []*types.Package  // of those, the ones that the session process does not carry
	helpers  map[string]string // functions that the session process makes for types, by what they do
	used     map[construct]bool
	early    map[ast.Expr]bool // what is to be evaluated before the rest of its statement; see order.go
	placed   bool              // the expression being lowered is storage, not a value
	temps    int
	line     int // line that the code so far says it is at
	loops    int // product of the rounds of the loops around
}

func newLowering(c *check.Checked, o Options, b check.BuildOptions) *lowering {
	return &lowering{c: c, opts: o, show: !b.Quiet, names: map[string]bool{}, packages: map[string]string{}, helpers: map[string]string{}, used: map[construct]bool{}, early: map[ast.Expr]bool{}, loops: 1}
}

// use notes that the cell relies on a construct of the whitelist.
func (l *lowering) use(c construct) { l.used[c] = true }

// cell lowers the whole cell.
func (l *lowering) cell() {
	c := l.c
	switch {
	case len(c.Decls) > 0:
		refuse("declares %s %s", article(c.Decls[0].Sym.Kind), c.Decls[0].Sym.Key())
	case len(c.Rebound) > 0:
		refuse("gives %s a new meaning", c.Rebound[0].Sym.Key())
	case len(c.Extended) > 0:
		refuse("adds methods to %s", c.Extended[0].Name)
	}
	for _, r := range c.Redefined {
		if r.Old.Kind != check.VarSymbol || r.New == nil || r.New.Kind != check.VarSymbol {
			refuse("redefines %s %s", article(r.Old.Kind), r.Old.Key())
		}
	}
	for _, im := range c.Imports {
		if im.Name == "_" || im.Name == "." {
			refuse("imports %s as %q", im.Path, im.Name)
		}
	}
	for _, v := range c.Vars {
		if v.Reused {
			continue
		}
		l.vars = append(l.vars, link.Var{Name: v.Sym.Name, Type: l.reflectable(v.Type)})
	}
	for i := range c.Steps {
		l.step(&c.Steps[i])
	}
}

func article(k check.SymbolKind) string { return "the " + k.String() }

// unit is the finished unit.
func (l *lowering) unit() link.Unit {
	u := link.Unit{Engine: link.EngineInterp, Cell: l.c.N, Vars: l.vars}
	var head strings.Builder
	head.WriteString("package cell\nimport " + session + " \"gander.session/names\"\n")
	for path, alias := range l.packages {
		u.Symbols = append(u.Symbols, path)
		fmt.Fprintf(&head, "import %s %q\n", alias, "gander.session/std/"+path)
	}
	slices.Sort(u.Symbols)
	head.WriteString("func Cell() {\n")
	for name := range l.names {
		u.Names = append(u.Names, name)
		if v, ok := strings.CutPrefix(name, "V_"); ok {
			fmt.Fprintf(&head, "v__%s := %s.%s\n", v, session, name)
		}
	}
	slices.Sort(u.Names)
	u.Source = head.String() + l.out.String() + "}\n"
	return u
}

func (l *lowering) writef(format string, args ...any) { fmt.Fprintf(&l.out, format, args...) }

// at tells the running code which line of the cell it is at, for the position of a panic.
func (l *lowering) at(pos token.Pos) {
	if line := l.c.Fset.Position(pos).Line; line != l.line || l.loops > 1 {
		l.line = line
		l.writef("%s.At(%d)\n", session, line)
	}
}

func (l *lowering) temp() string {
	l.temps++
	return "t__" + strconv.Itoa(l.temps)
}

func (l *lowering) step(s *check.Step) {
	switch s.Kind {
	case check.StmtStep:
		if e, ok := s.Stmt.(*ast.ExprStmt); ok && s.Show {
			l.at(e.Pos())
			l.ordered(true, e.X)
			if !l.show {
				l.writef("_ = %s\n", l.expr(e.X))
				return
			}
			l.use(shownValue)
			l.writef("%s.Show(%s)\n", session, l.shown(e.X))
			return
		}
		l.stmt(s.Stmt)
	case check.DefineStep:
		l.define(s)
	default:
		refuse("runs a function of its own at once")
	}
}

// shown is the expression whose value is shown: one that has several values stays a call.
func (l *lowering) shown(e ast.Expr) string {
	if _, ok := l.typeOf(e).(*types.Tuple); ok {
		return l.call(ast.Unparen(e).(*ast.CallExpr))
	}
	return l.expr(e)
}

// define lowers the definition of session variables. All values are taken before the first is stored, as Go does.
func (l *lowering) define(s *check.Step) {
	l.at(s.Pos)
	l.use(sessionDefinition)
	l.ordered(true, s.Values...)
	targets := make([]string, len(s.Targets))
	for i, t := range s.Targets {
		targets[i] = "_"
		if t.Sym != nil {
			targets[i] = l.variable(t.Sym, t.Sym.Name)
		}
	}
	switch {
	case len(s.Values) == 0:
		for _, t := range s.Targets {
			if t.Sym != nil { // its storage may be that of a variable before it
				l.use(zeroAgain)
				l.writef("%s.%s(v__%s)\n", session, l.helper("Z", l.reflectable(l.c.Object(t.Sym).Type()), ""), t.Sym.Name)
			}
		}
	case len(s.Values) == 1 && len(targets) == 1 && targets[0] == "_":
		l.writef("_ = %s\n", l.expr(s.Values[0]))
	case len(s.Values) == 1 && len(targets) == 1:
		t := l.c.Object(s.Targets[0].Sym).Type()
		l.store(targets[0], t, true, l.value(s.Values[0], t))
	default:
		ts, memory := make([]types.Type, len(targets)), make([]bool, len(targets))
		for i, t := range s.Targets {
			if t.Sym != nil {
				ts[i], memory[i] = l.c.Object(t.Sym).Type(), true
			}
		}
		l.assign(targets, ts, memory, s.Values)
	}
}

// store writes an assignment of a value to a place of type t. Values that are not basic go to compiled storage by way of the
// session process: yaegi makes composite literals right in the place that it is assigned to, and forgets them there when that is
// behind a pointer; it has no nil of a compiled interface.
func (l *lowering) store(place string, t types.Type, addressable bool, value string) {
	if _, ok := basic(t); ok || !addressable {
		l.writef("%s = %s\n", place, value)
		return
	}
	l.typ(t)
	if value == "nil" {
		l.writef("%s.%s(&%s)\n", session, l.helper("Z", l.reflectable(t), ""), place)
		return
	}
	l.writef("%s.%s(&%s, %s)\n", session, l.helper("S", l.reflectable(t), ""), place, value)
}

// storeExpr is store for an expression; a composite literal becomes a variable of its own where it cannot go through store.
func (l *lowering) storeExpr(place ast.Expr, value ast.Expr) {
	if l.c.Info.Types[value].IsNil() && l.inMemory(place) {
		l.store(l.place(place), l.typeOf(place), true, "nil")
		return
	}
	o := &order{l: l}
	to, from := o.of(place), effects{}
	if to.any() && !l.c.Info.Types[value].IsNil() {
		from = o.converted(value, l.typeOf(place))
	} else {
		from = o.of(value)
	}
	// The compiler evaluates the value before the checks of the place, but after its calls.
	if x, ok := ast.Unparen(place).(*ast.IndexExpr); ok && isMap(l.typeOf(x.X)) {
		to.panics = true // it may be nil
	}
	late := to.any() && from.any()
	if o.key && from.any() {
		refuse("may fail in several ways in an order that is up to the compiler")
	}
	o.conflict = o.conflict || late && to.calls
	o.settle(true)
	spelled, v := l.place(place), ""
	if id, ok := ast.Unparen(place).(*ast.Ident); ok && id.Name == "_" {
		l.writef("_ = %s\n", l.expr(value))
		return
	}
	v = l.value(value, l.typeOf(place))
	inMemory := l.inMemory(place)
	if _, lit := ast.Unparen(value).(*ast.CompositeLit); lit && !inMemory || late {
		t := l.temp()
		if from := l.typeOf(value); !isTyped(from) {
			v = l.typ(l.typeOf(place)) + "(" + v + ")"
		}
		l.writef("%s := %s\n", t, v)
		v = t
	}
	l.store(spelled, l.typeOf(place), inMemory, v)
}

// assign stores values in places of types ts, through temporaries. memory says which of them are storage that compiled code has
// laid out (inMemory).
func (l *lowering) assign(places []string, ts []types.Type, memory []bool, values []ast.Expr) {
	temps := make([]string, len(places))
	for i := range places {
		if temps[i] = "_"; places[i] != "_" {
			temps[i] = l.temp()
		}
	}
	if len(values) == 1 {
		op := ":="
		if !slices.ContainsFunc(temps, func(t string) bool { return t != "_" }) {
			op = "="
		}
		l.writef("%s %s %s\n", strings.Join(temps, ", "), op, l.several(values[0]))
		for i, from := range l.severalTypes(values[0]) {
			if temps[i] != "_" && ts[i] != nil {
				temps[i] = l.converted(temps[i], from, ts[i])
			}
		}
	} else {
		var lines []string // what has to come before them is written first
		for i, v := range values {
			switch {
			case temps[i] == "_":
				lines = append(lines, "_ = "+l.expr(v))
			case l.c.Info.Types[v].IsNil():
				temps[i] = l.value(v, ts[i])
			default:
				lines = append(lines, temps[i]+" := "+l.value(v, ts[i]))
			}
		}
		l.writef("%s\n", strings.Join(lines, "\n"))
	}
	for i, p := range places {
		switch {
		case p == "_":
		default:
			l.store(p, ts[i], memory[i], temps[i])
		}
	}
}

// severalTypes are the types of the values of such an expression.
func (l *lowering) severalTypes(e ast.Expr) []types.Type {
	tuple, ok := l.typeOf(e).(*types.Tuple)
	if !ok { // a comma-ok form
		return []types.Type{l.typeOf(e), types.Typ[types.Bool]}
	}
	ts := make([]types.Type, tuple.Len())
	for i := range ts {
		ts[i] = tuple.At(i).Type()
	}
	return ts
}

// several is an expression with more than one value.
func (l *lowering) several(e ast.Expr) string {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		l.use(multiValue)
		return l.call(x)
	case *ast.IndexExpr:
		l.use(commaOkMap)
		return l.index(x)
	case *ast.TypeAssertExpr:
		return l.assertion2(x)
	}
	refuse("receives from a channel")
	return ""
}

// variable is a session variable as an operand.
func (l *lowering) variable(sym *check.Symbol, spelled string) string {
	if sym.Name != spelled {
		refuse("uses an older version of %s", sym.Name)
	}
	l.names["V_"+sym.Name] = true
	return "(*v__" + sym.Name + ")"
}
