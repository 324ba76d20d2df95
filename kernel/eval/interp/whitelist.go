package interp

// construct is one entry of the whitelist: something that the lowering makes code for. Lowering a cell notes the constructs that
// it relies on; proof.txt names the programs that show each to be right.
type construct uint8

const (
	constants construct = iota
	nilValue
	sessionVariable
	localVariable
	dereference
	logic
	ordering
	intArithmetic
	floatArithmetic
	concatenation
	unaryOperator
	equality
	nilComparison
	deepEquality
	shift
	shiftByVariable
	addressOfLiteral
	addressOfVariable
	addressInside
	packageVariable
	field
	promotion
	structLiteral
	mapLiteral
	arrayLiteral
	sliceLiteral
	indexSlice
	indexArray
	indexMap
	indexString
	sliceSlice
	sliceString
	sliceArray
	assertion
	commaOkAssertion
	commaOkMap
	multiValue
	typeSwitch
	callFunction
	callValue
	functionValue
	callPackage
	callGeneric
	foreignPackage
	callInterface
	callAddressed
	callPointer
	callDereferenced
	callMethod
	spreadCall
	variadicCall
	callOfCall
	numberConversion
	stringConversion
	textConversion
	runeConversion
	interfaceConversion
	lenCap
	appendCall
	copyCall
	deleteCall
	minMax
	clearCall
	makeCall
	panicCall
	sessionDefinition
	zeroAgain
	shownValue
	assignment
	parallelAssignment
	opAssignment
	incDec
	localDefinition
	localVar
	blockStatement
	breakContinue
	ifStatement
	forStatement
	rangeInteger
	rangeString
	rangeSlice
	rangeMap
	rangeArray
	switchStatement
	switchDeep
	constructs // the number of them
)

// String is the construct in the notation of the language.
func (c construct) String() string { return constructNames[c] }

var constructNames = [...]string{
	constants:           "constant expressions, folded",
	nilValue:            "nil as a value",
	sessionVariable:     "session variables",
	localVariable:       "local variables",
	dereference:         "*p",
	logic:               "&& and ||",
	ordering:            "<, <=, > and >=",
	intArithmetic:       "arithmetic of integers",
	floatArithmetic:     "arithmetic of floats",
	concatenation:       "+ of strings",
	unaryOperator:       "+x, -x, ^x and !x",
	equality:            "== of basic values",
	nilComparison:       "== nil",
	deepEquality:        "== of pointers, structs, arrays and interfaces",
	shift:               "<< and >>",
	shiftByVariable:     "<< and >> by a variable",
	addressOfLiteral:    "&T{…}",
	addressOfVariable:   "&x of a session variable",
	addressInside:       "& of elements and fields",
	packageVariable:     "variables of packages",
	field:               "fields",
	promotion:           "fields and methods of embedded structs",
	structLiteral:       "struct literals",
	mapLiteral:          "map literals",
	arrayLiteral:        "array literals",
	sliceLiteral:        "slice literals",
	indexSlice:          "s[i] of slices",
	indexArray:          "a[i] of arrays",
	indexMap:            "m[k]",
	indexString:         "s[i] of strings",
	sliceSlice:          "s[i:j] of slices",
	sliceString:         "s[i:j] of strings",
	sliceArray:          "a[i:j] of arrays",
	assertion:           "x.(T)",
	commaOkAssertion:    "v, ok := x.(T)",
	commaOkMap:          "v, ok := m[k]",
	multiValue:          "calls with several values",
	typeSwitch:          "type switches",
	callFunction:        "calls of session functions",
	callValue:           "calls of function values",
	functionValue:       "functions as values",
	callPackage:         "calls of package functions",
	callGeneric:         "calls of generic functions of packages",
	foreignPackage:      "packages whose tables are built",
	callInterface:       "methods of interfaces",
	callAddressed:       "pointer methods of variables",
	callPointer:         "pointer methods of pointers",
	callDereferenced:    "value methods of pointers",
	callMethod:          "value methods of values",
	spreadCall:          "f(s...)",
	variadicCall:        "variadic calls",
	callOfCall:          "f(g()) with several values",
	numberConversion:    "conversions between numbers",
	stringConversion:    "conversions between string types",
	textConversion:      "conversions between strings and slices",
	runeConversion:      "string(rune)",
	interfaceConversion: "conversions to interfaces",
	lenCap:              "len and cap",
	appendCall:          "append",
	copyCall:            "copy",
	deleteCall:          "delete",
	minMax:              "min and max",
	clearCall:           "clear",
	makeCall:            "make",
	panicCall:           "panic",
	sessionDefinition:   "definitions of session variables",
	zeroAgain:           "var x T of a variable that there is",
	shownValue:          "the value of the cell",
	assignment:          "x = y",
	parallelAssignment:  "x, y = a, b",
	opAssignment:        "x op= y",
	incDec:              "x++ and x--",
	localDefinition:     "x := y of local variables",
	localVar:            "var x T of local variables",
	blockStatement:      "blocks",
	breakContinue:       "break and continue",
	ifStatement:         "if",
	forStatement:        "for",
	rangeInteger:        "range over integers",
	rangeString:         "range over strings",
	rangeSlice:          "range over slices",
	rangeMap:            "range over maps",
	rangeArray:          "range over arrays",
	switchStatement:     "switch",
	switchDeep:          "switch on pointers, structs and interfaces",
}
