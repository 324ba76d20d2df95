package open

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	rpprof "runtime/pprof"
	rtrace "runtime/trace"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gander-go/gander/internal/shared"
	"github.com/gander-go/gander/internal/tracegen"
	"github.com/gander-go/gander/profiler/pprof"
	"github.com/gander-go/gander/profiler/trace"
)

func zipped(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func mustOpen(t testing.TB, b []byte) *trace.Trace {
	t.Helper()
	tr, err := Reader(bytes.NewReader(b), "test", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Validate(); err != nil {
		t.Fatal(err)
	}
	return tr
}

func generated(t testing.TB) ([]byte, tracegen.Totals) {
	var b bytes.Buffer
	tot, err := tracegen.Write(&b, tracegen.Options{Steps: 3, Python: true})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), tot
}

func TestEveryFormatIsRecognisedByContent(t *testing.T) {
	text, tot := generated(t)
	var slices int
	for _, c := range tot.Categories {
		slices += int(c.Count)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := mustOpen(t, text)
	var file bytes.Buffer
	if err := trace.Encode(&file, own); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"plain": text, "gzip": zipped(t, text), "gzip twice": zipped(t, zipped(t, text)), "zstd": enc.EncodeAll(text, nil),
		"mark and blanks": append([]byte("\xef\xbb\xbf \n"), text...), "two gzip members": append(zipped(t, text[:1000]), zipped(t, text[1000:])...),
		"gander": file.Bytes(), "gander in gzip": zipped(t, file.Bytes()),
	} {
		if tr := mustOpen(t, b); len(tr.Slices) != slices || tr.Meta.Tool != "pytorch" {
			t.Errorf("%s: %d slices of %q, want %d", name, len(tr.Slices), tr.Meta.Tool, slices)
		}
	}
	var raw bytes.Buffer
	if rtrace.IsEnabled() {
		t.Skip("SKIPPED: the test itself is being traced")
	}
	if err := rtrace.Start(&raw); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	rtrace.Stop()
	if tr := mustOpen(t, raw.Bytes()); tr.Meta.Tool != "go-trace" || len(tr.Slices) == 0 {
		t.Errorf("execution trace: %q with %d slices", tr.Meta.Tool, len(tr.Slices))
	}
}

func TestAttachedExecutionTraceIsMerged(t *testing.T) {
	var raw bytes.Buffer
	if err := rtrace.Start(&raw); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	runtime.GC()
	rtrace.Stop()
	tr := &trace.Trace{Meta: trace.Meta{Tool: "gander", Rank: trace.NoRank, Epoch: 1, End: 1 << 62}, Attachments: []trace.Attachment{{Kind: "go-exec-trace", Data: raw.Bytes()}}}
	var file bytes.Buffer
	if err := trace.Encode(&file, tr); err != nil {
		t.Fatal(err)
	}
	if got := mustOpen(t, file.Bytes()); len(got.Attachments) != 0 || len(got.Slices) == 0 {
		t.Errorf("%d attachments, %d slices, problems %v", len(got.Attachments), len(got.Slices), got.Problems)
	}
}

func TestRefusalsSayWhatTheFileIs(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Name: "worker0.json", Size: 2, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var goroutines bytes.Buffer
	if err := rpprof.Lookup("goroutine").WriteTo(&goroutines, 0); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in   []byte
		want string
	}{
		"empty":           {nil, "the file is empty"},
		"blanks":          {[]byte(" \n\n"), "the file is empty"},
		"empty in gzip":   {zipped(t, nil), "the file is empty"},
		"lfs":             {[]byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"), "git-lfs pointer"},
		"html":            {[]byte("\n<!DOCTYPE html><html>"), "HTML page"},
		"tar in gzip":     {zipped(t, archive.Bytes()), "tar archive"},
		"zip":             {[]byte("PK\x03\x04rest"), "zip archive"},
		"sqlite":          {[]byte("SQLite format 3\x00"), "Nsight Systems"},
		"pickle":          {[]byte("\x80\x04\x95"), "memory snapshot"},
		"elf":             {[]byte("\x7fELF\x02"), "a program"},
		"utf-16":          {[]byte("\xff\xfe{\x00"), "UTF-16"},
		"prose":           {[]byte("hello world"), "unknown format"},
		"execution trace": {[]byte(`{"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": []}`), "PyTorch execution trace"},
		"notebook":        {[]byte(`{"cells": [], "nbformat": 4}`), "Jupyter notebook"},
		"other json":      {[]byte(`{"a": 1}`), `its keys are a`},
		"damaged gzip":    {[]byte("\x1f\x8b\x08\xff\x00"), "gzip header is damaged"},
		"broken profile":  {[]byte{10, 4, 8, 1, 16, 2, 10, 4, 8, 3, 16, 4, 18, 2, 8, 1, 18, 2, 255, 255}, "reading profile"},
		"goroutines":      {goroutines.Bytes(), "goroutine/count"},
		"cut own file":    {[]byte("gndrtrc\x01"), "decoding trace"},
	} {
		_, err := Reader(bytes.NewReader(c.in), "some file", Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"some file"`) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, c.want)
		}
	}
}

func TestFileNamesFolderAndProgress(t *testing.T) {
	dir := t.TempDir()
	if _, err := File(dir, Options{}); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("folder: %v", err)
	}
	if _, err := File(filepath.Join(dir, "none"), Options{}); err == nil {
		t.Error("no error for a file that is not there")
	}
	text, _ := generated(t)
	path := filepath.Join(dir, "trace.txt")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	var read, size int64
	if _, err := File(path, Options{Progress: func(r, s int64) { read, size = r, s }}); err != nil {
		t.Fatal(err)
	}
	if read != int64(len(text)) || size != read {
		t.Errorf("progress ended at %d of %d, want %d", read, size, len(text))
	}
}

func TestProfileRoundTrip(t *testing.T) {
	tr := &trace.Trace{Meta: trace.Meta{Epoch: 5, End: 100}}
	x := tr.StackIndex()
	root := x.Push(0, x.Frame("main.main", "main.go", 1))
	leaf := x.Push(root, x.Frame("main.leaf", "leaf.go", 7))
	for kind := range trace.SampleMutex {
		tr.Samples = append(tr.Samples, trace.Sample{Kind: kind, Stack: leaf, Weight: 100 + int64(kind), Count: 3, Span: tr.Strings.ID("s")}, trace.Sample{Kind: kind, Stack: root, Weight: 1, Count: 1})
	}
	for kind := range trace.SampleMutex {
		var b bytes.Buffer
		if err := pprof.Write(&b, tr, kind); err != nil {
			t.Fatal(err)
		}
		got := mustOpen(t, b.Bytes())
		want, have := texts(tr, kind), texts(got, kind)
		if want != have {
			t.Errorf("kind %d:\n%s\nwant\n%s", kind, have, want)
		}
	}
}

// texts lists the samples of one kind in words.
func texts(t *trace.Trace, kind trace.SampleKind) string {
	var lines []string
	for _, s := range t.Samples {
		if s.Kind != kind {
			continue
		}
		line := fmt.Sprint(t.Strings.Get(s.Span), " ", s.Weight, " ", s.Count)
		for id := s.Stack; id != 0; id = t.Stacks[id].Parent {
			f := t.Frames[t.Stacks[id].Frame]
			line += fmt.Sprintf(" %s(%s:%d)", t.Strings.Get(f.Func), t.Strings.Get(f.File), f.Line)
		}
		lines = append(lines, line)
	}
	if len(lines) == 2 && lines[0] > lines[1] {
		lines[0], lines[1] = lines[1], lines[0]
	}
	return strings.Join(lines, "\n")
}

func TestRuntimeProfilesAgreeWithReferenceParser(t *testing.T) {
	for _, name := range []string{"heap", "allocs", "block"} {
		for _, debug := range []int{0, 1} {
			if name == "block" && debug == 1 {
				continue // an empty one has no samples to compare
			}
			var b bytes.Buffer
			if err := rpprof.Lookup(name).WriteTo(&b, debug); err != nil {
				t.Fatal(err)
			}
			p, err := profile.ParseData(b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			var want int64
			for _, s := range p.Sample {
				for i, v := range s.Value {
					if typ := p.SampleType[i].Type; typ == "alloc_space" || typ == "inuse_space" || typ == "delay" {
						want += v
					}
				}
			}
			var got int64
			for _, s := range mustOpen(t, b.Bytes()).Samples {
				got += s.Weight
			}
			if got != want {
				t.Errorf("%s (debug=%d): weights add up to %d, want %d", name, debug, got, want)
			}
		}
	}
}

func TestSharedTraces(t *testing.T) {
	dir := shared.Path(t, "data", "traces")
	names, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
	if err != nil || len(names) < 10 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		tr, err := File(name, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if err := tr.Validate(); err != nil || len(tr.Slices) == 0 {
			t.Errorf("%s: %d slices, %v", name, len(tr.Slices), err)
		}
	}
	if _, err := File(filepath.Join(dir, "dlrm_8_ranks_v100.tar.gz"), Options{}); err == nil || !strings.Contains(err.Error(), "tar archive") {
		t.Errorf("archive: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	text, _ := generated(f)
	f.Add(text[:5000])
	f.Add(zipped(f, text[:5000]))
	f.Add([]byte("go 1.26 trace\x00\x00\x00"))
	f.Add([]byte("heap profile: 0: 0 [0: 0] @ heap/1048576\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if tr, err := Reader(bytes.NewReader(b), "fuzz", Options{}); err == nil {
			if err := tr.Validate(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
