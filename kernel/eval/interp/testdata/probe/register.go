package probe

import (
	"reflect"

	"github.com/gander-go/gander/kernel/session/rt"
)

// Register makes the session of this process know the declarations, as a compiled cell's code does.
func Register() {
	for name, t := range map[string]reflect.Type{
		"Point": reflect.TypeFor[Point](), "Plain": reflect.TypeFor[Plain](), "Base": reflect.TypeFor[Base](),
		"Outer": reflect.TypeFor[Outer](), "Shape": reflect.TypeFor[Shape](), "Square": reflect.TypeFor[Square](),
		"Circle": reflect.TypeFor[Circle](), "Celsius": reflect.TypeFor[Celsius](), "Weekday": reflect.TypeFor[Weekday](),
		"Small": reflect.TypeFor[Small](), "Octet": reflect.TypeFor[Octet](), "Names": reflect.TypeFor[Names](),
		"Counts": reflect.TypeFor[Counts](), "Text": reflect.TypeFor[Text](), "MyErr": reflect.TypeFor[MyErr](),
	} {
		rt.DeclareType(name, t)
	}
	for name, f := range map[string]any{
		"Fail": Fail, "Divmod": Divmod, "Try": Try, "Sum": Sum, "Describe": Describe, "Total": Total, "Trace": Trace,
		"TraceB": TraceB, "Boom": Boom, "Bump": Bump, "Fresh": Fresh, "NilPoint": NilPoint, "NewSquare": NewSquare, "NoShape": NoShape,
		"Ints": Ints, "Adder": Adder, "Wrap": Wrap,
	} {
		rt.DeclareFunc(name, f)
	}
	*rt.Define[error]("ErrPlain") = ErrPlain
}
