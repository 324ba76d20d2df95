package nbhtml

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"mime"
	"os"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	ghtml "github.com/yuin/goldmark/renderer/html"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxPicture is the largest file that is embedded as a picture.
const maxPicture = 20 << 20

// markdown renders s. HTML in it is kept as far as sanitize allows. Pictures come from attachments, from data
// addresses, or from files below Options.Dir; those of other machines become links.
func (p *page) markdown(s string, attachments map[string]map[string]text) (string, error) {
	md := goldmark.New(
		// Alignment as an attribute, because sanitize drops styles.
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Linkify, extension.Strikethrough, extension.TaskList, extension.Footnote, extension.DefinitionList),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithInlineParsers(util.Prioritized(mathParser{}, 150))),
		goldmark.WithRendererOptions(ghtml.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(&mdRenderer{p, attachments}, 100))),
	)
	var b bytes.Buffer
	if err := md.Convert([]byte(s), &b); err != nil {
		return "", fmt.Errorf("rendering Markdown: %w", err)
	}
	return sanitize(b.String()), nil
}

// mdRenderer draws what differs from plain Markdown: code, pictures, formulas.
type mdRenderer struct {
	p           *page
	attachments map[string]map[string]text
}

func (r *mdRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindFencedCodeBlock, r.code)
	reg.Register(ast.KindImage, r.image)
	reg.Register(kindMath, r.math)
}

func (r *mdRenderer) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	var b bytes.Buffer
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		b.Write(line.Value(source))
	}
	out, err := highlight(b.String(), string(block.Language(source)))
	if err != nil {
		return ast.WalkStop, err
	}
	_, err = w.WriteString(out)
	return ast.WalkSkipChildren, err
}

func (r *mdRenderer) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	img := n.(*ast.Image)
	dest, alt := string(img.Destination), plain(n, source)
	if data, ok := r.embed(dest); ok {
		fmt.Fprintf(w, `<img alt="%s" src="%s">`, html.EscapeString(alt), html.EscapeString(data))
		return ast.WalkSkipChildren, nil
	}
	if alt == "" {
		alt = dest
	}
	fmt.Fprintf(w, `<a href="%s">%s</a>`, html.EscapeString(dest), html.EscapeString(alt))
	return ast.WalkSkipChildren, nil
}

// plain is the text below n.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		} else {
			b.WriteString(plain(c, source))
		}
	}
	return b.String()
}

// embed returns the data address of a picture.
func (r *mdRenderer) embed(dest string) (string, bool) {
	if picturePattern.MatchString(dest) {
		return dest, true
	}
	if name, ok := strings.CutPrefix(dest, "attachment:"); ok {
		for kind, body := range r.attachments[name] {
			if d := "data:" + kind + ";base64," + strings.TrimSpace(string(body)); picturePattern.MatchString(d) {
				return d, true
			}
		}
		return "", false
	}
	if r.p.o.Dir == "" || strings.Contains(dest, ":") {
		return "", false
	}
	kind, _, _ := strings.Cut(mime.TypeByExtension(path.Ext(dest)), ";")
	if !strings.HasPrefix(kind, "image/") {
		return "", false
	}
	root, err := os.OpenRoot(r.p.o.Dir) // a notebook must not reach files outside its folder
	if err != nil {
		return "", false
	}
	defer root.Close()
	info, err := root.Stat(dest)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPicture {
		return "", false
	}
	b, err := root.ReadFile(dest)
	if err != nil {
		return "", false
	}
	d := "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(b)
	return d, picturePattern.MatchString(d)
}

var kindMath = ast.NewNodeKind("Math")

// mathNode is a formula between dollar signs, kept as its source.
type mathNode struct {
	ast.BaseInline
	body  []byte
	block bool
}

func (*mathNode) Kind() ast.NodeKind              { return kindMath }
func (n *mathNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

func (r *mdRenderer) math(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		m := n.(*mathNode)
		class := "math"
		if m.block {
			class = "math mathblock"
		}
		fmt.Fprintf(w, `<code class="%s">%s</code>`, class, html.EscapeString(string(m.body)))
	}
	return ast.WalkContinue, nil
}

// mathParser finds $…$ and $$…$$, so that Markdown leaves the underscores and stars in formulas alone.
type mathParser struct{}

func (mathParser) Trigger() []byte { return []byte{'$'} }

func (mathParser) Parse(_ ast.Node, block gtext.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if bytes.HasPrefix(line, []byte("$$")) {
		return blockMath(block)
	}
	end := bytes.IndexByte(line[1:], '$')
	// As pandoc has it: no space inside the dollars, no digit behind, so that prices stay prices.
	if end < 1 || line[1] == ' ' || line[end] == ' ' || end+2 < len(line) && line[end+2] >= '0' && line[end+2] <= '9' {
		return nil
	}
	block.Advance(end + 2)
	return &mathNode{body: bytes.Clone(line[1 : end+1])}
}

// blockMath reads up to the closing dollars, which may stand on a later line of the paragraph.
func blockMath(block gtext.Reader) ast.Node {
	row, at := block.Position()
	block.Advance(2)
	var body []byte
	for {
		line, _ := block.PeekLine()
		if line == nil {
			block.SetPosition(row, at)
			return nil
		}
		if i := bytes.Index(line, []byte("$$")); i >= 0 {
			body = append(body, line[:i]...)
			block.Advance(i + 2)
			return &mathNode{body: bytes.TrimSpace(body), block: true}
		}
		body = append(body, line...)
		block.AdvanceLine()
	}
}
