// Package kernelspec installs what makes Jupyter offer the kernel: a folder with kernel.json and logos. It knows where
// Jupyter looks and nothing of the kernel itself. Its invariant: a spec is written whole or not at all, and only folders
// that hold a spec of ours are removed.
package kernelspec

// Options say where a spec goes and what it starts.
type Options struct {
	User      bool   // the user's own data directory: JUPYTER_DATA_DIR, else XDG_DATA_HOME/jupyter (the default)
	SysPrefix bool   // the environment (virtualenv, conda) that is active
	Prefix    string // PREFIX/share/jupyter/kernels

	Name        string            // folder and kernel name; "": "gander"
	DisplayName string            // "": "Go (gander)"
	Binary      string            // "": the running executable
	Args        []string          // after Binary; nil: "kernel", "-f", "{connection_file}"
	Env         map[string]string // for the kernel's process; may be nil
}

// Spec is an installed kernel of ours.
type Spec struct {
	Name   string
	Dir    string
	Binary string
}
