package stack

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gander-go/gander/kernel/eval"
)

// TestInterrupts stops cells that work and cells that wait. All but the last kind leave the session as it was.
func TestInterrupts(t *testing.T) {
	b := open(t, "")
	b.ok("import (\"sync\"; \"time\"; \"os\"; \"bufio\")\nkept := 41\nvar mu sync.Mutex\nmu.Lock()\nch, full := make(chan int), make(chan int)\nvar wg sync.WaitGroup\nwg.Add(1)")
	for _, tt := range []struct{ what, engine, code string }{
		{"loop", eval.Native, "fmt.Println(\"go\"); for { kept++; kept-- }"},
		{"recursion", eval.Native, "func rec(n int) int { if n == 0 { return 0 }; return rec(n-1) + rec(n-1) }\nfmt.Println(\"go\"); rec(60)"},
		{"channel", eval.Native, "fmt.Println(\"go\"); <-ch"},
		{"send", "", "fmt.Println(\"go\"); full <- 1"},
		{"select", eval.Native, "fmt.Println(\"go\"); select {}"},
		{"sleep", "", "fmt.Println(\"go\"); time.Sleep(time.Hour)"},
		{"mutex", "", "fmt.Println(\"go\"); mu.Lock()"},
		{"wait group", "", "fmt.Println(\"go\"); wg.Wait()"},
		{"loop by the interpreter", "", "fmt.Println(\"go\"); for i := 0; i >= 0; i++ { kept += i % 2; kept -= i % 2 }"},
		{"pipe", eval.Native, "r, w, _ := os.Pipe()\ndefer w.Close()\nfmt.Println(\"go\"); bufio.NewReader(r).ReadString('\\n')"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			r, took := b.interrupted(tt.engine, tt.code)
			b.failed(r, tt.code, "Interrupted")
			if took > 10*time.Second {
				t.Errorf("ending took %v", took)
			}
			if v := b.ok("kept"); v != "41" {
				t.Errorf("kept is %s", v)
			}
		})
	}
}

// TestInterruptOfABuild stops a cell while it is being compiled: nothing of it is defined.
func TestInterruptOfABuild(t *testing.T) {
	b := open(t, "")
	ctx, cancel := context.WithCancel(context.Background())
	b.ok("1")
	time.AfterFunc(60*time.Millisecond, cancel)
	var code strings.Builder
	code.WriteString("import \"net/http\"\nvar _ = http.StatusOK\n")
	for i := range 400 {
		code.WriteString("func f" + strings.Repeat("x", i) + "() int { s := 0; for i := range 10 { s += i * i }; return s }\n")
	}
	start := time.Now()
	r := b.run(ctx, eval.Native, code.String())
	b.failed(r, "a large cell", "Interrupted")
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("ending took %v", d)
	}
	b.fails("fx()", "CompileError", "undefined: fx")
	if v := b.ok("2 + 3"); v != "5" {
		t.Errorf("the next cell yields %s", v)
	}
}

// asking is a front end whose user takes their time.
type asking struct{ asked chan bool }

func (a asking) Ask(string, bool) (string, error) {
	a.asked <- true
	time.Sleep(30 * time.Second)
	return "", os.ErrDeadlineExceeded
}

// TestInterruptOfInput stops a cell that waits for its user.
func TestInterruptOfInput(t *testing.T) {
	b := open(t, "")
	a := asking{make(chan bool, 1)}
	b.in = a
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-a.asked; cancel() }()
	start := time.Now()
	code := "kept := 7\nvar line string\nfmt.Scanln(&line)"
	b.failed(b.run(ctx, "", code), code, "Interrupted")
	if d := time.Since(start); d > 15*time.Second {
		t.Errorf("ending took %v", d)
	}
	if v := b.ok("kept"); v != "7" {
		t.Errorf("kept is %s", v)
	}
}

// TestDeaths runs cells that end the session process, and those that would end a program but not the session. Each says what
// happened and where in the cell.
func TestDeaths(t *testing.T) {
	b := open(t, "")
	for _, tt := range []struct {
		what, code, name string
		parts            []string
		survives         bool
	}{
		{"panic", "func deep(p *int) int {\n\treturn *p\n}\ndeep(nil)", "panic", []string{"nil pointer dereference", "deep (In[", "]:2", "]:4", "return *p"}, true},
		{"error", "import \"errors\"\npanic(errors.Join(errors.New(\"first\"), errors.New(\"second\")))", "panic", []string{"first", "caused by: second"}, true},
		{"goroutine", "import \"time\"\ngo func() {\n\tvar m map[string]int\n\tm[\"a\"] = 1\n}()\ntime.Sleep(10 * time.Second)", "panic", []string{"assignment to entry in nil map", "]:4"}, true},
		{"named goroutine", "func work(n int) {\n\tpanic(fmt.Sprint(\"work \", n))\n}\ngo work(3)\nselect {}", "panic", []string{"work 3", "]:2"}, true},
		{"stack overflow", "func over(n int) int {\n\treturn over(n+1) + 1\n}\nover(0)", "SessionDied", []string{"stack overflow", "over (In[", "]:2"}, false},
		{"concurrent map writes", "m := map[int]int{}\nfor range 8 {\n\tgo func() {\n\t\tfor i := 0; ; i++ {\n\t\t\tm[i%10] = i\n\t\t}\n\t}()\n}\nselect {}", "SessionDied", []string{"concurrent map"}, false},
		{"os.Exit", "import \"os\"\nos.Exit(3)", "Exit", []string{"os.Exit(3)"}, false},
		{"log.Fatal", "import \"log\"\nlog.Fatal(\"that is it\")", "Exit", []string{"log.Fatal"}, false},
		{"kill", "import (\"os\"; \"syscall\")\nsyscall.Kill(os.Getpid(), syscall.SIGKILL)\nselect {}", "SessionDied", []string{"signal 9"}, false},
		{"memory fault", "import \"unsafe\"\nvar p = (*int)(unsafe.Pointer(uintptr(0xdead0000beef)))\n*p = 1", "SessionDied", []string{"fault", "]:3"}, false},
		{"Goexit", "import \"runtime\"\nruntime.Goexit()", "Goexit", nil, true},
	} {
		t.Run(tt.what, func(t *testing.T) {
			b.t = t
			b.ok("alive := 5")
			b.out.Take()
			e := b.fails(tt.code, tt.name, tt.parts...)
			if !strings.HasPrefix(e.HTML, "<div") {
				t.Errorf("HTML form %q", e.HTML)
			}
			if tt.survives {
				if v := b.ok("alive"); v != "5" {
					t.Errorf("the variable is %s", v)
				}
				return
			}
			b.fails("alive", "CompileError", "undefined: alive")
			if note := b.out.All(); !strings.Contains(note, "the session was restarted") {
				t.Errorf("the next cell is not told of the restart but %q", note)
			}
			if v := b.ok("1 + 1"); v != "2" {
				t.Errorf("1 + 1 is %s", v)
			}
		})
	}
}

// TestAfterTheCell lets goroutines print and panic after their cell has ended.
func TestAfterTheCell(t *testing.T) {
	b := open(t, "")
	b.ok("import \"time\"\ngo func() { time.Sleep(100 * time.Millisecond); fmt.Println(\"late words\") }()")
	b.waitFor("late words")
	b.ok("go func() {\n\ttime.Sleep(50 * time.Millisecond)\n\tpanic(\"late panic\")\n}()")
	b.waitFor("panic in a goroutine: late panic")
	b.waitFor("In[2]:3")
	if s := b.out.All(); strings.Contains(s, "In[#") {
		t.Errorf("engine's names are shown:\n%s", s)
	}
	b.okIn(eval.Native, "import \"runtime/debug\"\ndebug.PrintStack()")
	b.waitFor("In[3]:2")
	if v := b.ok("6 * 7"); v != "42" {
		t.Errorf("6 * 7 is %s", v)
	}
}
