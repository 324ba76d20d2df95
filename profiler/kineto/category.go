package kineto

import (
	"strings"

	"github.com/gander-go/gander/profiler/trace"
)

// classes maps a category, in lower case, to the part it plays. Those of 2020 and 2021 ("Operator", "Kernel") differ from
// today's in more than case.
var classes = map[string]trace.Class{
	"cpu_op": trace.ClassOp, "operator": trace.ClassOp,
	"user_annotation": trace.ClassAnnotation,
	"python_function": trace.ClassPython, "python": trace.ClassPython,
	"cuda_runtime": trace.ClassRuntime, "runtime": trace.ClassRuntime, "hip_runtime": trace.ClassRuntime,
	"mtia_runtime": trace.ClassRuntime, "xpu_runtime": trace.ClassRuntime, "glow_runtime": trace.ClassRuntime,
	"privateuse1_runtime": trace.ClassRuntime, "hpu_op": trace.ClassRuntime,
	"cuda_driver": trace.ClassDriver, "xpu_driver": trace.ClassDriver, "privateuse1_driver": trace.ClassDriver,
	"kernel": trace.ClassKernel, "mtia_ccp_events": trace.ClassKernel,
	"gpu_memcpy": trace.ClassMemcpy, "memcpy": trace.ClassMemcpy,
	"gpu_memset": trace.ClassMemset, "memset": trace.ClassMemset,
	"gpu_user_annotation": trace.ClassDeviceAnnotation,
	"cuda_sync":           trace.ClassSync, "xpu_sync": trace.ClassSync,
	"overhead":        trace.ClassOverhead,
	"collective_comm": trace.ClassComm,
	"trace":           trace.ClassTool,
	"go_call":         trace.ClassCall, "gc": trace.ClassGC, "stw": trace.ClassSTW, "goroutine_state": trace.ClassState,
	"thread_state": trace.ClassState,
}

// classOf returns the class of a category by its name alone.
func classOf(category string) trace.Class {
	if c, ok := classes[category]; ok {
		return c
	}
	return classes[strings.ToLower(category)]
}

// stepPrefix begins the name of the range that marks one step of a schedule.
const stepPrefix = "ProfilerStep"

// argsOf says which side table the arguments of slices of class c belong to.
func argsOf(c trace.Class) trace.ArgKind {
	switch c {
	case trace.ClassOp, trace.ClassAnnotation, trace.ClassStep, trace.ClassComm:
		return trace.ArgOp
	case trace.ClassPython, trace.ClassCall:
		return trace.ArgCall
	case trace.ClassKernel:
		return trace.ArgKernel
	case trace.ClassMemcpy, trace.ClassMemset:
		return trace.ArgCopy
	case trace.ClassSync:
		return trace.ArgSync
	}
	return trace.ArgGeneric
}
