"""What gpucheck compares with torch.profiler. It prints one line of JSON for each part, so that a part that fails costs
nothing of the others:

  kernels  gpucheck's own kernels, launched through the driver API in PyTorch's context: durations by name, in ns
  model    a few steps of training: the rows of key_averages, and the file with the trace that they are of

usage: torch_check.py KERNELS.ptx OUT STEPS SAXPIES ELEMENTS SIDE SPINS SPIN_NS HOLD_NS

OUT is where traces are written: OUT-kernels.json and OUT-model.json. GPUCHECK_DEVICE=cpu trains on the host and leaves the kernels out:
that tests this script where there is no GPU.
"""
import ctypes
import json
import os
import sys
import traceback

import torch
from torch.profiler import ProfilerActivity, profile, record_function

DEVICE = os.environ.get("GPUCHECK_DEVICE", "cuda")
ACTIVITIES = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if DEVICE == "cuda" else [])


def synchronize():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def check(code):
    if code:
        raise RuntimeError("CUDA error %d" % code)


def kernels(ptx, out, steps, saxpies, n, side, spins, spin_ns, hold_ns):
    torch.cuda.init()
    x = torch.ones(n, device="cuda")
    y = torch.zeros(n, device="cuda")
    a, b, c = (torch.zeros(side, side, device="cuda") for _ in range(3))
    total = torch.zeros(1, device="cuda")
    torch.cuda.synchronize()  # PyTorch's context is the current one of this thread now

    cuda = ctypes.CDLL("libcuda.so.1")
    cuda.cuModuleLoadData.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p]
    cuda.cuModuleGetFunction.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_char_p]
    cuda.cuLaunchKernel.argtypes = (
        [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p]
    )
    module = ctypes.c_void_p()
    with open(ptx, "rb") as f:
        check(cuda.cuModuleLoadData(ctypes.byref(module), f.read() + b"\0"))
    functions = {}

    def launch(name, grid, block, *args):
        if name not in functions:
            functions[name] = ctypes.c_void_p()
            check(cuda.cuModuleGetFunction(ctypes.byref(functions[name]), module, name.encode()))
        params = (ctypes.c_void_p * len(args))(*[ctypes.addressof(v) for v in args])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(cuda.cuLaunchKernel(functions[name], *grid, *block, 0, stream, params, None))

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
            launch("gc_hold", (1, 1, 1), (1, 1, 1), i64(hold_ns))
            launch("gc_spin", (1, 1, 1), (1, 1, 1), i64(spin_ns))
        torch.cuda.synchronize()

    work(1, 1)
    with profile(activities=ACTIVITIES):  # the first profile of a process loads CUPTI, and may miss the first kernels
        work(1, 1)
    with profile(activities=ACTIVITIES) as p:
        work(steps, spins)
    file = out + "-kernels.json"
    p.export_chrome_trace(file)
    durations = {}
    with open(file) as f:
        for e in json.load(f)["traceEvents"]:
            if e.get("cat") == "kernel":
                durations.setdefault(e["name"], []).append(e["dur"] * 1000)
    return durations


def model(out):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).to(DEVICE)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x = torch.randn(64, 256)
    y = torch.randint(0, 10, (64,))

    def step():
        with record_function("upload"):
            a, b = x.to(DEVICE), y.to(DEVICE)
        with record_function("forward"):
            loss = torch.nn.functional.cross_entropy(net(a), b)
        with record_function("backward"):
            optimizer.zero_grad()
            loss.backward()
        optimizer.step()
        synchronize()

    for _ in range(3):
        step()
    with profile(activities=ACTIVITIES, record_shapes=True) as p:
        for _ in range(5):
            step()
    file = out + "-model.json"
    p.export_chrome_trace(file)
    rows = []
    for r in p.key_averages():
        rows.append({
            "key": r.key,
            "device": "CPU" if str(r.device_type).endswith("CPU") else "CUDA",
            "user": bool(getattr(r, "is_user_annotation", False)),
            "count": r.count,
            "self_cpu": r.self_cpu_time_total * 1000,
            "cpu": r.cpu_time_total * 1000,
            "self_device": r.self_device_time_total * 1000,
            "device_total": r.device_time_total * 1000,
        })
    return {"file": file, "rows": rows}


def main():
    ptx, out, numbers = sys.argv[1], sys.argv[2], [int(v) for v in sys.argv[3:]]
    parts = [("model", lambda: model(out))]
    if DEVICE == "cuda":
        parts.insert(0, ("kernels", lambda: kernels(ptx, out, *numbers)))
    for name, part in parts:
        try:
            result = {name: part()}
        except Exception as e:
            traceback.print_exc()
            result = {name + "_error": "%s: %s" % (type(e).__name__, e)}
        result["torch"] = torch.__version__
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
