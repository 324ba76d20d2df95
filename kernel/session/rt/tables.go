package rt

import (
	"reflect"
	"sync"
)

var tables struct {
	// mu guards what follows.
	mu   sync.RWMutex
	made map[string]func() map[string]reflect.Value
}

// DeclareTable registers the symbols of a package for interpreted cells: functions as themselves, variables as addressable values, types as
// nil pointers to them. The name tells versions of a package apart. The plugins of tables call it from their init functions.
func DeclareTable(name string, symbols func() map[string]reflect.Value) {
	tables.mu.Lock()
	defer tables.mu.Unlock()
	if tables.made == nil {
		tables.made = map[string]func() map[string]reflect.Value{}
	}
	tables.made[name] = symbols
}

// Table makes the table of that name, nil when there is none.
func Table(name string) map[string]reflect.Value {
	tables.mu.RLock()
	symbols := tables.made[name]
	tables.mu.RUnlock()
	if symbols == nil {
		return nil
	}
	return symbols()
}
