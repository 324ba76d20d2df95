// Package history keeps what users have executed, across sessions and shared by kernels that run side by side. It knows
// nothing of the protocol that asks for it. Its invariant: a record that was appended is never changed, and whatever
// state a crash or a full disk leaves the file in, the whole records in it are read and new ones can be added.
//
// The file holds one JSON object a line, appended in one write under a lock on the file:
//
//	{"s":12,"t":1764561234}            session 12 began at this Unix time; its number is one more than the last one
//	{"s":12,"n":3,"i":"x := 1"}        input of line 3 of session 12
//	{"s":12,"n":3,"o":"1"}             its result
//
// A line that is none of these, torn or foreign, is passed over.
package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	maxFile    = 8 << 20  // bytes at which a file is cut when a session begins
	keepFile   = 4 << 20  // bytes of the newest records that are kept then
	maxLine    = 1 << 20  // longer inputs are not kept
	maxOutput  = 64 << 10 // longer results are cut
	maxSession = 1 << 30  // what no honest count reaches
)

// record is one line of the file.
type record struct {
	Session int     `json:"s"`
	Line    int     `json:"n,omitempty"`
	Time    int64   `json:"t,omitempty"`
	Input   *string `json:"i,omitempty"`
	Output  *string `json:"o,omitempty"`
}

// Entry is one execution.
type Entry struct {
	Session, Line int
	Input         string
	Output        string // text form of the result, empty without one
}

// Store is the history as one kernel sees it. It is safe for concurrent use.
type Store struct {
	path string // empty: in memory
	once sync.Once

	// mu guards the fields below.
	mu      sync.Mutex
	session int
	memory  []record // instead of the file
	failed  error    // why the file was given up
}

// InMemory returns a store that ends with the process.
func InMemory() *Store { return &Store{session: 1} }

// DefaultFile is gander/history.jsonl in Jupyter's data directory.
func DefaultFile() (string, error) {
	dir := os.Getenv("JUPYTER_DATA_DIR")
	if dir == "" {
		base := os.Getenv("XDG_DATA_HOME")
		if base == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", fmt.Errorf("finding data directory: %w", err)
			}
			base = filepath.Join(home, ".local", "share")
			if runtime.GOOS == "darwin" {
				dir = filepath.Join(home, "Library", "Jupyter")
			}
		}
		if dir == "" {
			dir = filepath.Join(base, "jupyter")
		}
	}
	return filepath.Join(dir, "gander", "history.jsonl"), nil
}

// Open returns the store in the file at path, which is made when it is missing. The session's number is fetched in the
// background, so that a kernel need not wait for it.
func Open(path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("opening history: %w", err)
	}
	s := &Store{path: path}
	go s.begin()
	return s, nil
}

// begin takes a number for this session. It is called by everything that needs one.
func (s *Store) begin() {
	s.once.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.path == "" {
			return
		}
		err := s.locked(func(f *os.File) error {
			last := 0
			if err := scan(f, func(r record) { last = max(last, r.Session) }); err != nil {
				return err
			}
			s.session = last + 1
			return appendRecord(f, record{Session: s.session, Time: time.Now().Unix()})
		})
		if err != nil {
			s.giveUpLocked(err)
		}
	})
}

func (s *Store) giveUpLocked(err error) {
	s.failed = err
	s.session = max(s.session, 1)
}

// Session is the number of this kernel's session, from 1.
func (s *Store) Session() int {
	s.begin()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

// Input records the code of a line. After an error, which is returned once, the history goes on in memory.
func (s *Store) Input(line int, code string) error {
	if len(code) > maxLine {
		return nil
	}
	return s.add(record{Line: line, Input: &code})
}

// Output records the text of a line's result.
func (s *Store) Output(line int, text string) error {
	if len(text) > maxOutput {
		text = strings.ToValidUTF8(text[:maxOutput], "")
	}
	return s.add(record{Line: line, Output: &text})
}

func (s *Store) add(r record) error {
	s.begin()
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Session = s.session
	if s.path == "" || s.failed != nil {
		s.memory = append(s.memory, r)
		return nil
	}
	err := s.locked(func(f *os.File) error { return appendRecord(f, r) })
	if err != nil {
		s.giveUpLocked(err)
		s.memory = append(s.memory, r)
		return fmt.Errorf("writing history, which goes on in memory only: %w", err)
	}
	return nil
}

// Close ends the store. Nothing is buffered, so there is nothing to lose without it.
func (s *Store) Close() error { return nil }

// errMoved says that another kernel has replaced the file while its lock was awaited.
var errMoved = errors.New("file was replaced")

// locked opens the file, locks it and calls f. A file that has grown too long is cut first.
func (s *Store) locked(f func(*os.File) error) error {
	for range 10 {
		err := s.lockedOnce(f)
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return errMoved
}

func (s *Store) lockedOnce(f func(*os.File) error) error {
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close() // releases the lock too
	if err := lock(file); err != nil {
		return err
	}
	here, err := file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(s.path); err != nil || !os.SameFile(here, there) {
		return errMoved
	}
	if here.Size() > maxFile {
		if err := shorten(file, here.Size(), s.path); err != nil {
			return err
		}
		return errMoved
	}
	return f(file)
}

// shorten replaces the file by one with its newest records.
func shorten(f *os.File, size int64, path string) error {
	tail := make([]byte, keepFile)
	n, err := f.ReadAt(tail, size-keepFile)
	if err != nil && err != io.EOF {
		return err
	}
	tail = tail[:n]
	if i := bytes.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".history-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(tail)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// appendRecord writes r as a line of its own, also after a torn one.
func appendRecord(f *os.File, r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if end > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], end-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			b = append([]byte{'\n'}, b...)
		}
	}
	_, err = f.Write(b)
	return err
}

// scan calls each with every whole record of r, in order.
func scan(r io.Reader, each func(record)) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		if len(line)+len(part) <= 8*maxLine { // beyond that it is no record of ours
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading history: %w", err)
		}
		var rec record
		if json.Unmarshal(line, &rec) == nil && 0 < rec.Session && rec.Session < maxSession {
			each(rec)
		}
		line = line[:0]
		if err == io.EOF {
			return nil
		}
	}
}
