package check

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"strings"
)

// ownName is a name that the cell declares.
type ownName struct {
	sym   *Symbol
	piece int
	how   declared
}

type declared uint8

const (
	asDecl  declared = iota // type, func, const
	asVar                   // var
	asShort                 // :=
)

// ownDecl is a declaration of the cell other than a variable: one function or type, or one group of constants.
type ownDecl struct {
	p         *parsed
	spec      int // index in the GenDecl for a type, -1 otherwise
	start     int // of its text in the cell
	end       int
	it        *item // without refs until the cell is committed
	unchanged *item // the session's item that it repeats
}

// declare notes every name that the cell declares and gives it a symbol.
func (k *checker) declare() {
	k.findAliases()
	for _, p := range k.ps {
		switch d := p.decl.(type) {
		case *ast.FuncDecl:
			k.declareFunc(p, d)
		case *ast.GenDecl:
			switch d.Tok {
			case token.TYPE:
				for i, s := range d.Specs {
					k.declareType(p, d, i, s.(*ast.TypeSpec))
				}
			case token.CONST:
				k.declareConst(p, d)
			case token.VAR:
				for _, s := range d.Specs {
					for _, id := range s.(*ast.ValueSpec).Names {
						k.own1(id.Name, VarSymbol, p, asVar)
					}
				}
			}
		}
		if a := p.define(); a != nil {
			k.declareShort(p, a)
		}
	}
}

// findAliases notes what the cell's type declarations are other names of.
func (k *checker) findAliases() {
	for _, p := range k.ps {
		d, ok := p.decl.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			continue
		}
		for _, s := range d.Specs {
			ts := s.(*ast.TypeSpec)
			k.aliases[ts.Name.Name] = ""
			if id, ok := ts.Type.(*ast.Ident); ok && ts.Assign.IsValid() {
				k.aliases[ts.Name.Name] = id.Name
			}
		}
	}
}

// base follows aliases from the name of a type to the one that was declared: methods belong to that.
func (k *checker) base(name string) string {
	for range 16 {
		to, own := k.aliases[name]
		if !own {
			if it := k.st.of[k.st.names.syms[name]]; it != nil && it.kind == TypeSymbol {
				if f := strings.Fields(it.norm); len(f) >= 4 && f[2] == "=" && (len(f) == 4 || f[4] == ";") && token.IsIdentifier(f[3]) {
					to = f[3]
				}
			}
		}
		if to == "" {
			break
		}
		name = to
	}
	return name
}

// define returns the piece's short variable declaration; nil when it is something else, or one that is wrong anyway.
func (p *parsed) define() *ast.AssignStmt {
	a, ok := p.stmt.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE {
		return nil
	}
	for _, l := range a.Lhs {
		if _, ok := l.(*ast.Ident); !ok {
			return nil
		}
	}
	if len(a.Rhs) != 1 && len(a.Rhs) != len(a.Lhs) {
		return nil
	}
	return a
}

func (k *checker) declareShort(p *parsed, a *ast.AssignStmt) {
	fresh := false
	seen := map[string]bool{}
	for _, l := range a.Lhs {
		id := l.(*ast.Ident)
		switch o := k.own[id.Name]; {
		case id.Name == "_":
		case seen[id.Name]:
			k.problem(p.off(id.Pos()), p.off(id.End()), id.Name+" repeated on left side of :=")
		case o == nil || o.how == asDecl:
			k.own1(id.Name, VarSymbol, p, asShort)
			fresh = true
		}
		seen[id.Name] = true
	}
	if !fresh {
		k.problem(p.off(a.TokPos), p.off(a.TokPos)+2, "no new variables on left side of :=")
	}
}

// own1 gives name a new symbol, unless it is one that cannot be referred to.
func (k *checker) own1(name string, kind SymbolKind, p *parsed, how declared) *Symbol {
	if name == "_" {
		return nil
	}
	if o := k.own[name]; o != nil {
		return o.sym // declared twice: go/types says so
	}
	s := k.s.newSymbol(name, "", kind, k.c.N)
	k.own[name] = &ownName{sym: s, piece: p.index, how: how}
	return s
}

func (s *Session) newSymbol(name, recv string, kind SymbolKind, n int) *Symbol {
	return &Symbol{ID: s.ids.Add(1), Name: name, Recv: recv, Kind: kind, Cell: n}
}

func (k *checker) declareFunc(p *parsed, d *ast.FuncDecl) {
	if d.Name.Name == "_" || d.Recv == nil && d.Name.Name == "init" {
		return
	}
	it := k.newItem(p, FuncSymbol, p.Start, p.End, "")
	if d.Body != nil {
		it.body = p.off(d.Body.Pos()) - p.Start
	}
	if d.Recv == nil {
		it.syms = []*Symbol{k.own1(d.Name.Name, FuncSymbol, p, asDecl)}
		it.defs = []span{k.defSpan(p, d.Name, it)}
	} else {
		recv := recvName(d)
		if recv == "" {
			return
		}
		recv = k.base(recv)
		it.kind = MethodSymbol
		key := recv + "." + d.Name.Name
		if k.own[key] == nil {
			k.own[key] = &ownName{sym: k.s.newSymbol(d.Name.Name, recv, MethodSymbol, k.c.N), piece: p.index, how: asDecl}
		}
		it.syms = []*Symbol{k.own[key].sym}
	}
	k.decls = append(k.decls, &ownDecl{p: p, spec: -1, start: p.Start, end: p.End, it: it})
}

func (k *checker) declareType(p *parsed, d *ast.GenDecl, i int, s *ast.TypeSpec) {
	if s.Name.Name == "_" {
		return
	}
	start, end, prefix := p.Start, p.End, ""
	if d.Lparen.IsValid() {
		start, end, prefix = p.off(s.Pos()), p.off(s.End()), "type "
	}
	it := k.newItem(p, TypeSymbol, start, end, prefix)
	it.syms = []*Symbol{k.own1(s.Name.Name, TypeSymbol, p, asDecl)}
	it.defs = []span{k.defSpan(p, s.Name, it)}
	k.decls = append(k.decls, &ownDecl{p: p, spec: i, start: start, end: end, it: it})
}

func (k *checker) declareConst(p *parsed, d *ast.GenDecl) {
	it := k.newItem(p, ConstSymbol, p.Start, p.End, "")
	for _, s := range d.Specs {
		for _, id := range s.(*ast.ValueSpec).Names {
			if sym := k.own1(id.Name, ConstSymbol, p, asDecl); sym != nil {
				it.syms = append(it.syms, sym)
				it.defs = append(it.defs, k.defSpan(p, id, it))
			}
		}
	}
	if len(it.syms) > 0 {
		k.decls = append(k.decls, &ownDecl{p: p, spec: -1, start: p.Start, end: p.End, it: it})
	}
}

// newItem makes an item of the cell's text from start to end.
func (k *checker) newItem(p *parsed, kind SymbolKind, start, end int, prefix string) *item {
	line, col := lineCol(k.lines, start)
	src := prefix + k.code[start:end]
	return &item{kind: kind, src: src, prefix: len(prefix), cell: k.c.N, line: line, col: col,
		doc: docText(k.code[p.Doc:p.Start]), norm: normal(src)}
}

func (k *checker) defSpan(p *parsed, id *ast.Ident, it *item) span {
	line := lineOffset(k.lines, it.line, it.col)
	off := p.off(id.Pos()) - line + it.prefix
	return span{off, off + len(id.Name)}
}

// lineOffset is the inverse of lineCol.
func lineOffset(lines []int, line, col int) int { return lines[line-1] + col - 1 }

// recvName is the name of a method's base type, "" when it is none.
func recvName(d *ast.FuncDecl) string {
	if len(d.Recv.List) == 0 {
		return ""
	}
	for t := d.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// normal is Go text without comments and layout.
func normal(src string) string {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", -1, len(src)), []byte(src), func(token.Position, string) {}, 0)
	var b strings.Builder
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return b.String()
		}
		if tok == token.SEMICOLON {
			lit = ";"
		} else if lit == "" {
			lit = tok.String()
		}
		b.WriteString(lit)
		b.WriteByte(' ')
	}
}

// docText is the text of the comments in src.
func docText(src string) string {
	if src == "" {
		return ""
	}
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", -1, len(src)), []byte(src), func(token.Position, string) {}, scanner.ScanComments)
	g := &ast.CommentGroup{}
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.COMMENT {
			g.List = append(g.List, &ast.Comment{Text: lit})
		}
	}
	return g.Text()
}

// findUnchanged finds the declarations that repeat what the session has, word for word and with the same meaning, and
// gives them their old symbols: to run a cell again makes no new types.
func (k *checker) findUnchanged() {
	for _, d := range k.decls {
		if old := k.repeated(d); old != nil && !(d.it.kind == TypeSymbol && k.extended[old.syms[0]]) {
			d.unchanged = old
		}
	}
	for again := true; again; {
		again = false
		replaced := map[*Symbol]bool{}
		for key, o := range k.own {
			if old := k.st.names.syms[key]; old != nil && !k.isUnchanged(o.sym) && (old.Kind != VarSymbol || o.sym.Kind != VarSymbol || k.changed[old]) && old.Kind != MethodSymbol {
				if old.Kind == FuncSymbol && o.sym.Kind == FuncSymbol && !k.changed[old] {
					continue
				}
				replaced[old] = true
			}
		}
		for _, d := range k.decls {
			if d.unchanged == nil {
				continue
			}
			any, _ := d.unchanged.uses(replaced)
			if !any && k.sameImports(d.unchanged) {
				continue
			}
			if any && k.usesOnlyExtended(d.unchanged, replaced) {
				for _, s := range d.unchanged.syms {
					k.extended[s] = true
				}
			}
			d.unchanged, again = nil, true
		}
	}
}

// usesOnlyExtended reports whether all replaced symbols that it uses are types that gained methods: then so does it.
func (k *checker) usesOnlyExtended(it *item, replaced map[*Symbol]bool) bool {
	for _, r := range it.refs {
		if r.sym != nil && replaced[r.sym] && !k.extended[r.sym] {
			return false
		}
	}
	return it.kind == TypeSymbol
}

// repeated returns the session's item that d repeats.
func (k *checker) repeated(d *ownDecl) *item {
	var old *item
	for i, s := range d.it.syms {
		sym := k.st.names.syms[s.Key()]
		if sym == nil || sym.Kind != s.Kind {
			return nil
		}
		it := k.st.of[sym]
		if i > 0 && it != old || k.st.stale[it] || len(it.syms) != len(d.it.syms) || it.norm != d.it.norm {
			return nil
		}
		old = it
	}
	return old
}

func (k *checker) isUnchanged(s *Symbol) bool {
	for _, d := range k.decls {
		if d.unchanged != nil {
			for _, t := range d.it.syms {
				if s == t {
					return true
				}
			}
		}
	}
	return false
}

// sameImports reports whether the package names in it still mean the same packages.
func (k *checker) sameImports(it *item) bool {
	for _, r := range it.refs {
		if r.pkg != "" && !r.dot {
			if p := k.importPath(it.src[r.off:r.end]); p != "" && p != r.pkg {
				return false
			}
		}
	}
	return true
}
