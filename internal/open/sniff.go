package open

import (
	"bytes"
	"encoding/binary"
)

// headBytes is how much of a file sniff looks at.
const headBytes = 1024

// kind is what a file seems to be.
type kind int

const (
	kindUnknown kind = iota
	kindGzip
	kindZstd
	kindJSON
	kindGander
	kindGoTrace
	kindProfile
	kindEmpty
	kindLFS
	kindHTML
	kindTar
	kindZip
	kindSQLite
	kindPickle
	kindELF
	kindUTF16
)

// refusals say what a file is that cannot be shown, and what to do.
var refusals = map[kind]string{
	kindEmpty:  "the file is empty",
	kindLFS:    "this is a git-lfs pointer, not the file itself; fetch it with git lfs pull",
	kindHTML:   "this is an HTML page, not a trace; it was perhaps saved from a web site's preview: use the download (raw) link",
	kindTar:    "this is a tar archive; unpack it and name the traces in it (several are shown as ranks)",
	kindZip:    "this is a zip archive; unpack it and name the traces in it",
	kindSQLite: "this is an SQLite database, as Nsight Systems and rocpd export; Gander reads " + supported,
	kindPickle: "this is a Python pickle, perhaps a memory snapshot of torch.cuda.memory; record with torch.profiler and export_chrome_trace instead",
	kindELF:    "this is a program, not a trace",
	kindUTF16:  "this is UTF-16 text, as some shells write it when output is redirected; save the file as UTF-8",
}

// sniff recognises a file by its first bytes.
func sniff(head []byte) kind {
	text := bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	text = bytes.TrimLeft(text, " \t\r\n")
	has := func(prefix string) bool { return bytes.HasPrefix(head, []byte(prefix)) }
	switch {
	case len(text) == 0 && len(head) < headBytes:
		return kindEmpty
	case has("\x1f\x8b"):
		return kindGzip
	case has("\x28\xb5\x2f\xfd"):
		return kindZstd
	case has("gndrtrc"):
		return kindGander
	case len(head) > 16 && has("go 1.") && bytes.Contains(head[:16], []byte(" trace\x00")):
		return kindGoTrace
	case has("PK\x03\x04"):
		return kindZip
	case has("SQLite format 3\x00"):
		return kindSQLite
	case has("\x7fELF"), has("MZ"), has("\xcf\xfa\xed\xfe"):
		return kindELF
	case has("\xff\xfe"), has("\xfe\xff"):
		return kindUTF16
	case has("\x80\x02"), has("\x80\x03"), has("\x80\x04"), has("\x80\x05"):
		return kindPickle
	case len(head) > 262 && bytes.HasPrefix(head[257:], []byte("ustar")):
		return kindTar
	case bytes.HasPrefix(text, []byte("version https://git-lfs")):
		return kindLFS
	case len(text) == 0 || text[0] == '{' || text[0] == '[':
		return kindJSON // white space alone fills the head: the reader goes on looking
	case isHTML(text):
		return kindHTML
	case isProfile(head):
		return kindProfile
	}
	return kindUnknown
}

func isHTML(text []byte) bool {
	low := bytes.ToLower(text[:min(len(text), 64)])
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<?xml", "<!--", "<body"} {
		if bytes.HasPrefix(low, []byte(tag)) {
			return true
		}
	}
	return false
}

// isProfile recognises profile.proto by its fields and the older text profiles by their first words.
func isProfile(head []byte) bool { return isNamedProfile(head) || isProfileProto(head) }

func isNamedProfile(head []byte) bool {
	for _, words := range []string{"heap profile:", "heapz ", "growthz ", "--- contention", "--- mutex", "goroutine profile:", "threadcreate profile:", "--- threadz", "--- Memory map"} {
		if bytes.HasPrefix(head, []byte(words)) {
			return true
		}
	}
	return false
}

// isProfileProto walks the first fields: each must have a number and a wire type that a Profile message has.
func isProfileProto(head []byte) bool {
	const varint, length = 0, 2
	types := [...]uint64{1: length, 2: length, 3: length, 4: length, 5: length, 6: length, 9: varint, 10: varint, 11: length, 12: varint, 14: varint}
	b := head
	for n := range 4 {
		if len(b) == 0 {
			return n > 1 && len(head) < headBytes
		}
		tag, k := binary.Uvarint(b)
		field, wire := tag>>3, tag&7
		if k <= 0 || field == 0 || field >= uint64(len(types)) || field != 7 && field != 8 && field != 13 && wire != types[field] {
			return false
		}
		v, m := binary.Uvarint(b[k:])
		if m <= 0 {
			return false
		}
		b = b[k+m:]
		if wire == length {
			if v > uint64(len(b)) {
				return n > 0 && len(head) == headBytes // a long field that goes on behind the head
			}
			b = b[v:]
		}
	}
	return true
}
