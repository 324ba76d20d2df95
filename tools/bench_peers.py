"""Gander beside torch.profiler, HTA and the TensorBoard plugin, in one run on one machine.

    python tools/bench_peers.py BENCH_PEERS GANDER [--spans 100000] [--trace-mb 50] [--repeat 3] [--json FILE]

BENCH_PEERS is the built tools/bench_peers, GANDER the built command. Two comparisons:

  spans   the same loop of nested named ranges under torch.profiler (activities=[CPU], record_function) and under
          package profiler: time per span over the bare loop, stopping, key_averages().table(), export_chrome_trace
  trace   one generated trace like PyTorch's with stacks: reading and analysing it with HTA (temporal, idle and kernel
          breakdown) and with the plugin (its own loader), and `gander report`, which reads, analyses and writes the page

Every figure is the best of the repeats, in seconds unless it says otherwise; a ratio says how many times less Gander takes.
"""

import argparse
import contextlib
import gzip
import io
import json
import logging
import os
import shutil
import subprocess
import tempfile
import time
import warnings

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # read when torch is imported

clock = time.perf_counter


def work(i):
    return i * i + 1


def torch_spans(n):
    """Times in ns, under the names of tools/bench_peers."""
    from torch.profiler import ProfilerActivity, profile, record_function

    sink = 0
    start = clock()
    for i in range(n // 2):
        sink += work(i) + work(i + 1)
    bare = clock() - start
    prof = profile(activities=[ProfilerActivity.CPU])
    prof.start()
    start = clock()
    for i in range(n // 2):
        with record_function("outer"):
            sink += work(i)
            with record_function("inner"):
                sink += work(i + 1)
    recorded = clock() - start
    start = clock()
    prof.stop()
    stop = clock() - start
    start = clock()
    prof.key_averages().table(sort_by="cpu_time_total")
    averages = clock() - start
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        start = clock()
        prof.export_chrome_trace(path)
        export = clock() - start
        size = os.path.getsize(path)
    seconds = dict(bare=bare, recorded=recorded, stop=stop, key_averages=averages, export=export)
    return {k: v * 1e9 for k, v in seconds.items()} | {"export_bytes": size}


def best(repeat, run):
    """The smallest value of each figure over the repeats."""
    all_runs = [run() for _ in range(repeat)]
    return {k: min(r[k] for r in all_runs) for k in all_runs[0]}


def command(*args):
    return json.loads(subprocess.run(args, check=True, capture_output=True, text=True).stdout)


def timed(run):
    start = clock()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run()
    return clock() - start


def hta(folder):
    from hta.trace_analysis import TraceAnalysis

    t = TraceAnalysis(trace_dir=folder)
    t.get_temporal_breakdown(visualize=False)
    t.get_idle_time_breakdown(visualize=False)
    t.get_gpu_kernel_breakdown(visualize=False)


def plugin(folder):
    from torch_tb_profiler import io as plugin_io
    from torch_tb_profiler.profiler.loader import RunLoader

    if RunLoader("run", folder, plugin_io.Cache()).load() is None:
        raise RuntimeError("the plugin loaded nothing")


def row(name, peer, ours, scale=1.0, unit="s"):
    print(f"{name:<44} {peer * scale:>12.3f} {ours * scale:>12.3f} {unit:<5} {peer / ours:>9.1f}x")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bench")
    p.add_argument("gander")
    p.add_argument("--spans", type=int, default=100_000)
    p.add_argument("--trace-mb", type=int, default=50)
    p.add_argument("--repeat", type=int, default=3)
    p.add_argument("--json")
    o = p.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    results = {}
    heading = f"{'':<44} {'peer':>12} {'gander':>12} {'':<5} {'ratio':>10}"

    import torch

    torch_spans(1000)  # what torch imports and sets up the first time does not count
    ours = best(o.repeat, lambda: command(o.bench, "spans", str(o.spans)))
    peer = best(o.repeat, lambda: torch_spans(o.spans))
    results["spans"] = {"n": o.spans, "torch": peer, "gander": ours}
    print(f"== {o.spans} spans: torch.profiler {torch.__version__}")
    print(heading)
    row("overhead of a span", (peer["recorded"] - peer["bare"]) / o.spans, (ours["recorded"] - ours["bare"]) / o.spans, 1e-3, "µs")
    row("stop", peer["stop"], ours["stop"], 1e-9)
    row("key_averages().table()", peer["key_averages"], ours["key_averages"], 1e-9)
    row("export_chrome_trace", peer["export"], ours["export"], 1e-9)
    speed = lambda f: f["export_bytes"] / f["export"] * 1e3  # bytes a ns to MB a second
    print(f"{'  speed of the export':<44} {speed(peer):>12.0f} {speed(ours):>12.0f} MB/s")

    root = tempfile.mkdtemp(prefix="bench-peers-")
    try:
        plain, packed = os.path.join(root, "plain"), os.path.join(root, "packed")
        os.mkdir(plain), os.mkdir(packed)
        trace = os.path.join(plain, "host.1700000000000.pt.trace.json")
        totals = command(o.bench, "trace", str(o.trace_mb << 20), trace)
        size = os.path.getsize(trace)
        print(f"\n== a trace of {size / 1e6:.0f} MB, {totals['Events']} events")
        print(heading)
        with open(trace, "rb") as f:
            text = f.read()
        with gzip.open(os.path.join(packed, "rank0.json.gz"), "wb", 1) as dst:  # HTA wants a rank
            dst.write(text.replace(b'"schemaVersion": 1,', b'"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1},', 1))
        page = os.path.join(root, "page.html")
        report = min(timed(lambda: subprocess.run([o.gander, "report", trace, "-o", page], check=True, capture_output=True)) for _ in range(o.repeat))
        results["trace"] = {"bytes": size, "events": totals["Events"], "gander": report}
        for name, run in (("HTA: read, three breakdowns", lambda: hta(packed)), ("TensorBoard plugin: read, all views", lambda: plugin(plain))):
            try:
                seconds = min(timed(run) for _ in range(max(1, o.repeat - 1)))
            except Exception as e:  # a peer that cannot read the trace is a result too
                print(f"{name:<44} failed: {type(e).__name__}: {e}")
                continue
            results["trace"][name] = seconds
            row(name, seconds, report)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    if o.json:
        with open(o.json, "w") as f:
            json.dump(results, f, indent=1)


if __name__ == "__main__":
    main()
