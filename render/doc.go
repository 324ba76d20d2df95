// Package render draws traces and their analysis: text, HTML for notebooks, standalone pages, static SVG and PNG.
//
// It computes no statistics of its own: figures come from profiler/analyze, events from profiler/trace. Its HTML is one
// container that is readable as it stands (pictures inside img elements and real tables) and that one script upgrades in
// place; the script, the style and the data travel in every output, so nothing is fetched and nothing can be missing.
//
// Its one invariant: text that comes from a trace or a user is data everywhere. It is escaped in HTML, carried as JSON or
// packed bytes to the script, and set as text content there; nothing of it is ever parsed as markup or code.
package render
