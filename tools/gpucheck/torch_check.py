"""Launches the kernels of gpucheck through the driver API in PyTorch's context, under torch.profiler, and prints the durations
that it recorded as one line of JSON.

usage: torch_check.py KERNELS.ptx STEPS SAXPIES ELEMENTS SIDE SPINS SPIN_NS
"""
import ctypes
import json
import os
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile

cuda = ctypes.CDLL("libcuda.so.1")


def check(code):
    if code:
        raise RuntimeError("CUDA error %d" % code)


def main():
    ptx = open(sys.argv[1], "rb").read()
    steps, saxpies, n, side, spins, spin_ns = map(int, sys.argv[2:])
    torch.cuda.init()
    x = torch.ones(n, device="cuda")
    y = torch.zeros(n, device="cuda")
    a, b, c = (torch.zeros(side, side, device="cuda") for _ in range(3))
    total = torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    module = ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), ctypes.c_char_p(ptx)))

    def launch(name, grid, block, *args):
        f = ctypes.c_void_p()
        check(cuda.cuModuleGetFunction(ctypes.byref(f), module, name.encode()))
        params = (ctypes.c_void_p * len(args))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in args])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(cuda.cuLaunchKernel(f, *grid, *block, 0, stream, params, None))

    def ptr(t):
        return ctypes.c_void_p(t.data_ptr())

    i32, f32, i64 = ctypes.c_int, ctypes.c_float, ctypes.c_longlong

    def work(rounds, timed):
        for _ in range(rounds):
            for _ in range(saxpies):
                launch("gc_saxpy", ((n + 255) // 256, 1, 1), (256, 1, 1), i32(n), f32(2), ptr(x), ptr(y))
            launch("gc_gemm", ((side + 15) // 16, (side + 15) // 16, 1), (16, 16, 1), i32(side), i32(side), i32(side), ptr(a), ptr(b), ptr(c))
            launch("gc_reduce", (128, 1, 1), (256, 1, 1), ptr(x), i32(n), ptr(total))
        for _ in range(timed):
            launch("gc_spin", (1, 1, 1), (1, 1, 1), i64(spin_ns))
        torch.cuda.synchronize()

    work(1, 1)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        work(steps, spins)
    kernels = {}
    with tempfile.TemporaryDirectory() as d:
        file = os.path.join(d, "trace.json")
        p.export_chrome_trace(file)
        for e in json.load(open(file))["traceEvents"]:
            if e.get("cat") == "kernel":
                kernels.setdefault(e["name"], []).append(e["dur"] * 1000)
    print(json.dumps({"torch": torch.__version__, "kernels": kernels}))


if __name__ == "__main__":
    main()
