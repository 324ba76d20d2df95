package kernelspec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Install writes the spec and returns where. A spec of ours that is there already is replaced; another kernel's is not.
func Install(o Options) (Spec, error) {
	name, err := o.name()
	if err != nil {
		return Spec{}, fmt.Errorf("installing kernelspec: %w", err)
	}
	parent, err := o.dir()
	if err != nil {
		return Spec{}, fmt.Errorf("installing kernelspec: %w", err)
	}
	k, err := o.spec()
	if err != nil {
		return Spec{}, fmt.Errorf("installing kernelspec: %w", err)
	}
	dir := filepath.Join(parent, name)
	if err := replace(parent, dir, k); err != nil {
		return Spec{}, fmt.Errorf("installing kernelspec %q: %w", dir, err)
	}
	return Spec{Name: name, Dir: dir, Binary: k.Argv[0]}, nil
}

// replace writes the spec beside its place and then moves it there.
func replace(parent, dir string, k kernelJSON) error {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	_, err := os.Lstat(dir)
	exists := err == nil
	if _, ours := read(dir); exists && !ours {
		return errors.New("there is another kernel of that name; choose another name")
	}
	fresh, err := os.MkdirTemp(parent, ".gander-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := write(fresh, k); err != nil {
		return err
	}
	if !exists {
		return os.Rename(fresh, dir)
	}
	old := fresh + ".old"
	if err := os.Rename(dir, old); err != nil {
		return err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.RemoveAll(old)
}

// write writes the files of a spec.
func write(dir string, k kernelJSON) error {
	b, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), append(b, '\n'), 0o644); err != nil {
		return err
	}
	err = fs.WalkDir(logos, "logos", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := logos.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, filepath.Base(path)), b, 0o644)
	})
	if err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// Uninstall removes the specs of ours with the name in o, of any name when that is empty, from the place in o, from all
// places where Jupyter looks when there is none. It returns the folders it removed, also beside an error.
func Uninstall(o Options) ([]string, error) {
	name := ""
	if o.Name != "" {
		var err error
		if name, err = o.name(); err != nil {
			return nil, fmt.Errorf("uninstalling kernelspec: %w", err)
		}
	}
	places := searched()
	if o.placed() {
		dir, err := o.dir()
		if err != nil {
			return nil, fmt.Errorf("uninstalling kernelspec: %w", err)
		}
		places = []string{dir}
	}
	var removed []string
	var errs []error
	for _, s := range in(places) {
		if name != "" && s.Name != name {
			continue
		}
		if err := os.RemoveAll(s.Dir); err != nil {
			errs = append(errs, fmt.Errorf("uninstalling kernelspec: %w", err))
			continue
		}
		removed = append(removed, s.Dir)
	}
	return removed, errors.Join(errs...)
}

// List returns the specs of ours in all the places where Jupyter looks.
func List() ([]Spec, error) { return in(searched()), nil }

// in returns the specs of ours in the given folders. What cannot be read is none.
func in(places []string) []Spec {
	var specs []Spec
	for _, p := range places {
		entries, err := os.ReadDir(p)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if s, ok := read(filepath.Join(p, e.Name())); ok {
				specs = append(specs, s)
			}
		}
	}
	return specs
}
