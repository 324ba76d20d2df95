package trace

// Strings is an interning table. The zero value is ready to use; id 0 is the empty string.
type Strings struct {
	list []string
	ids  map[string]StringID
}

// ID returns the id of s, adding it when it is new.
func (t *Strings) ID(s string) StringID {
	if s == "" {
		return 0
	}
	if id, ok := t.ids[s]; ok {
		return id
	}
	return t.add(s)
}

// IDBytes is ID for a byte slice; it copies b only when the string is new.
func (t *Strings) IDBytes(b []byte) StringID {
	if len(b) == 0 {
		return 0
	}
	if id, ok := t.ids[string(b)]; ok {
		return id
	}
	return t.add(string(b))
}

func (t *Strings) add(s string) StringID {
	if t.ids == nil {
		t.ids = make(map[string]StringID)
		t.list = append(t.list, "")
	}
	id := StringID(len(t.list))
	t.list = append(t.list, s)
	t.ids[s] = id
	return id
}

// Get returns the string of id, empty for an id that was never given out.
func (t *Strings) Get(id StringID) string {
	if int(id) >= len(t.list) {
		return ""
	}
	return t.list[id]
}

// Len is the number of ids given out, the empty string included.
func (t *Strings) Len() int { return max(1, len(t.list)) }

// SetList replaces the table by list, whose first element must be empty.
func (t *Strings) SetList(list []string) {
	t.list = list
	t.ids = make(map[string]StringID, len(list))
	for i, s := range list {
		if i > 0 {
			t.ids[s] = StringID(i)
		}
	}
}

// List returns the strings by id. The caller must not change it.
func (t *Strings) List() []string { return t.list }
