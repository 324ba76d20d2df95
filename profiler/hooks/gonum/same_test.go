package gonum

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// wrappers pairs each generated type with what it wraps.
var wrappers = map[string][2]any{
	"float32BLAS":    {float32BLAS{gonum.Implementation{}}, gonum.Implementation{}},
	"float64BLAS":    {float64BLAS{gonum.Implementation{}}, gonum.Implementation{}},
	"complex64BLAS":  {complex64BLAS{gonum.Implementation{}}, gonum.Implementation{}},
	"complex128BLAS": {complex128BLAS{gonum.Implementation{}}, gonum.Implementation{}},
	"float64LAPACK":  {float64LAPACK{lapackgonum.Implementation{}}, lapackgonum.Implementation{}},
}

// TestResultsAreTheSame calls every method of every wrapper, recorded and not, and the wrapped implementation with equal
// arguments, and compares results and everything the slices hold afterwards bit for bit. A call that the implementation
// refuses must be refused in the same words.
func TestResultsAreTheSame(t *testing.T) {
	ran := map[string]int{}
	for _, file := range []string{"blas_gen.go", "lapack_gen.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			typ := fn.Recv.List[0].Type.(*ast.Ident).Name
			pair := wrappers[typ]
			hooked := reflect.ValueOf(pair[0]).MethodByName(fn.Name.Name)
			plain := reflect.ValueOf(pair[1]).MethodByName(fn.Name.Name)
			var names []string
			for _, p := range fn.Type.Params.List {
				for _, n := range p.Names {
					names = append(names, n.Name)
				}
			}
			want := outcome(plain, names)
			if got := outcome(hooked, names); got != want {
				t.Errorf("%s.%s unrecorded: %s, want %s", typ, fn.Name.Name, got, want)
			}
			var got string
			ops := recorded(t, func() { got = outcome(hooked, names) })
			if got != want {
				t.Errorf("%s.%s recorded: %s, want %s", typ, fn.Name.Name, got, want)
			}
			if name := strings.TrimSuffix(file, "_gen.go") + "." + fn.Name.Name; len(ops) == 0 || ops[0].name != name {
				t.Errorf("%s is recorded as %+v", name, ops)
			}
			if !strings.HasPrefix(want, "panic") {
				ran[file]++
			}
		}
	}
	// Arguments are made up by their names; that suits all of BLAS and most of LAPACK.
	if ran["blas_gen.go"] != 142 || ran["lapack_gen.go"] < 30 {
		t.Errorf("calls that ran: %v", ran)
	}
}

// outcome calls f with arguments made up from the parameters' names and returns everything it leaves behind.
func outcome(f reflect.Value, names []string) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint("panic: ", r)
		}
	}()
	r := rand.New(rand.NewPCG(1, 2))
	args := make([]reflect.Value, len(names))
	for i, name := range names {
		args[i] = argument(r, name, f.Type().In(i))
	}
	results := f.Call(args)
	for _, v := range append(results, args...) {
		text += fmt.Sprintf("%#v ", v.Interface())
	}
	return text
}

func argument(r *rand.Rand, name string, typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	switch typ {
	case reflect.TypeFor[blas.Transpose]():
		return reflect.ValueOf(blas.NoTrans)
	case reflect.TypeFor[blas.Uplo]():
		return reflect.ValueOf(blas.Upper)
	case reflect.TypeFor[blas.Diag]():
		return reflect.ValueOf(blas.NonUnit)
	case reflect.TypeFor[blas.Side]():
		return reflect.ValueOf(blas.Left)
	case reflect.TypeFor[lapack.MatrixNorm]():
		return reflect.ValueOf(lapack.MaxColumnSum)
	}
	switch v.Kind() {
	case reflect.Int:
		n := int64(3) // dimensions
		switch {
		case strings.HasPrefix(name, "inc"), name == "kL", name == "kU", name == "kd":
			n = 1
		case strings.HasPrefix(name, "ld"):
			n = 8
		case name == "lwork":
			n = 64
		}
		v.SetInt(n)
	case reflect.Uint8:
		v.SetUint('N') // jobs
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(0.5 + 0.25i)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		n := 64
		if name == "tau" || name == "ipiv" || name == "jpvt" || name == "k" || name == "s" || name == "w" || name == "piv" || name == "wr" || name == "wi" {
			n = 3
		}
		v.Set(reflect.MakeSlice(typ, n, n))
		for i := range n {
			switch e := v.Index(i); e.Kind() {
			case reflect.Float32, reflect.Float64:
				e.SetFloat(r.Float64() + 0.1)
				if name == "a" && i%9 == 0 {
					e.SetFloat(4 + r.Float64()) // a dominant diagonal makes a positive definite
				}
			case reflect.Complex64, reflect.Complex128:
				e.SetComplex(complex(r.Float64()+0.1, r.Float64()))
			case reflect.Int:
				e.SetInt(int64(i))
			}
		}
	}
	return v
}
