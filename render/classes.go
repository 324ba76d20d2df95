package render

import "github.com/gander-go/gander/profiler/trace"

// classNames are the names by which pages know classes of events; assets/js/util.js has a colour family for each.
var classNames = [trace.NumClasses]string{
	trace.ClassOther: "other", trace.ClassOp: "op", trace.ClassAnnotation: "annotation", trace.ClassStep: "step", trace.ClassCall: "call",
	trace.ClassPython: "python", trace.ClassRuntime: "runtime", trace.ClassDriver: "driver", trace.ClassKernel: "kernel",
	trace.ClassMemcpy: "memcpy", trace.ClassMemset: "memset", trace.ClassDeviceAnnotation: "annotation", trace.ClassSync: "sync",
	trace.ClassOverhead: "overhead", trace.ClassComm: "comm", trace.ClassGC: "gc", trace.ClassSTW: "stw", trace.ClassState: "state",
	trace.ClassMemory: "memory", trace.ClassTool: "tool",
}

// classHex are the colours of classes in static pictures.
var classHex = [trace.NumClasses]string{
	trace.ClassOther: "#8b95a1", trace.ClassOp: "#4f8fd0", trace.ClassAnnotation: "#d9a520", trace.ClassStep: "#9aa3ad", trace.ClassCall: "#3fa7a0",
	trace.ClassPython: "#6aa384", trace.ClassRuntime: "#8a6fc1", trace.ClassDriver: "#a36fb8", trace.ClassKernel: "#e8833a",
	trace.ClassMemcpy: "#d1608f", trace.ClassMemset: "#b86aa0", trace.ClassDeviceAnnotation: "#d9a520", trace.ClassSync: "#cf5a55",
	trace.ClassOverhead: "#8f8f8f", trace.ClassComm: "#c05fc6", trace.ClassGC: "#84a83f", trace.ClassSTW: "#d04a3a", trace.ClassState: "#8aa0ab",
	trace.ClassMemory: "#5aa56c", trace.ClassTool: "#99a0aa",
}
