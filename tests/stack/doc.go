// Package stack tests how cells behave through everything that runs them: the checker, the engines, the session process and
// what becomes of it. What a program prints is tested by package conformance; here cells crash, hang, lie about, pile up and
// meet machines that lack things.
package stack
