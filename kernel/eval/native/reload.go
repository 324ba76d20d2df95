package native

// Reload drops what the engine remembers of packages outside the standard library: they have changed. It reports false:
// a session process that has loaded a package cannot load another version of it.
func (e *Engine) Reload([]string) bool {
	e.tools.forget()
	return false
}
