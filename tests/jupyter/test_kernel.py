"""jupyter_kernel_test's whole suite against the installed kernel: every test, no skips."""

import jupyter_kernel_test as jkt


class GanderKernelTests(jkt.KernelTests):
    kernel_name = "gander"
    language_name = "go"
    file_extension = ".go"

    code_hello_world = 'fmt.Println("hello, world")'
    code_stderr = 'fmt.Fprintln(os.Stderr, "test")'

    completion_samples = [
        {"text": "strings.HasPre", "matches": {"strings.HasPrefix"}},
        {"text": "fmt.Printl", "matches": {"fmt.Println"}},
    ]

    complete_code_samples = ["x := 1", "func f() {\n}", "for i := 0; i < 3; i++ { f() }", "// comment", ""]
    incomplete_code_samples = ["func f() {", "x := []int{", "fmt.Println(", "s := `raw"]
    invalid_code_samples = ["import = 7q", "func )", "x := 'ab"]

    code_page_something = "fmt.Println?"
    code_generate_error = 'panic("boom")'

    code_execute_result = [
        {"code": "1+2+3", "result": "6"},
        {"code": '"ab"+"c"', "result": "abc"},
    ]
    code_display_data = [
        {"code": 'display.HTML("<b>test</b>")', "mime": "text/html"},
        {"code": 'display.Markdown("**test**")', "mime": "text/markdown"},
        {"code": "display.Image(image.NewRGBA(image.Rect(0, 0, 2, 2)))", "mime": "image/png"},
    ]

    supported_history_operations = ("tail", "range", "search")
    code_history_pattern = "1?2*"

    code_inspect_sample = "fmt.Println"
    code_clear_output = "display.Clear(false)"


class GanderWelcomeTests(jkt.IopubWelcomeTests):
    kernel_name = "gander"
    support_iopub_welcome = True
