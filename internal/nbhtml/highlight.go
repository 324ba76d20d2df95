package nbhtml

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
)

// classPrefix keeps the highlighter's class names apart from those of outputs.
const classPrefix = "ch-"

func formatter() *html.Formatter {
	return html.New(html.WithClasses(true), html.ClassPrefix(classPrefix), html.TabWidth(4))
}

// highlight returns code as a pre element; an unknown language is shown plain.
func highlight(code, language string) (string, error) {
	lexer := lexers.Get(language)
	if lexer == nil {
		lexer = lexers.Fallback
	}
	it, err := chroma.Coalesce(lexer).Tokenise(nil, code)
	if err != nil {
		return "", fmt.Errorf("highlighting %s: %w", language, err)
	}
	var b bytes.Buffer
	if err := formatter().Format(&b, styles.Get("github"), it); err != nil {
		return "", fmt.Errorf("highlighting %s: %w", language, err)
	}
	return b.String(), nil
}

// highlightCSS is the style of highlighted code on light and dark grounds. The ground itself is the page's. Each applies
// alone: what one style leaves to the text's own colour must not get the other's.
func highlightCSS() (string, error) {
	var b bytes.Buffer
	for _, s := range []struct{ name, open, end string }{{"github", "@media not all and (prefers-color-scheme:dark){\n", "}\n"}, {"github-dark", "@media(prefers-color-scheme:dark){\n", "}\n"}} {
		b.WriteString(s.open)
		var css bytes.Buffer
		if err := formatter().WriteCSS(&css, styles.Get(s.name)); err != nil {
			return "", fmt.Errorf("writing the style of %s: %w", s.name, err)
		}
		for line := range strings.Lines(css.String()) {
			// Lines of magics are errors to the lexer of the language, and not to us.
			if !strings.Contains(line, "."+classPrefix+"err ") && !strings.Contains(line, "."+classPrefix+"bg ") {
				b.WriteString(line)
			}
		}
		b.WriteString(s.end)
	}
	b.WriteString("." + classPrefix + "chroma{background:none}.md pre." + classPrefix + "chroma{background:var(--soft)}\n")
	return b.String(), nil
}

// magicLanguages are the languages of cells that a cell magic hands to something else.
var magicLanguages = map[string]string{
	"bash": "bash", "sh": "bash", "script": "bash", "html": "html", "HTML": "html", "markdown": "markdown", "latex": "tex", "svg": "xml",
	"javascript": "javascript", "js": "javascript", "cuda": "cuda", "python": "python", "python3": "python", "perl": "perl", "ruby": "ruby", "sql": "sql",
}

// cellLanguage is the language of a cell: the notebook's, unless its first line is a cell magic that says otherwise.
func cellLanguage(source, language string) string {
	first, _, _ := strings.Cut(source, "\n")
	name, ok := strings.CutPrefix(first, "%%")
	if !ok {
		return language
	}
	fields := strings.Fields(name)
	if len(fields) == 0 {
		return language
	}
	if fields[0] == "writefile" && len(fields) > 1 {
		if l := lexers.Match(path.Base(fields[len(fields)-1])); l != nil {
			return l.Config().Name
		}
	}
	if l, ok := magicLanguages[fields[0]]; ok {
		return l
	}
	return language
}
