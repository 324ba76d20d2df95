#!/usr/bin/env python3
"""Keep what the TensorBoard plugin's diff view says of pairs of traces.

usage: make_diffs.py                    writes plugin/*.diff.json for pairs of the traces in the folder torch
       make_diffs.py BASE NEW           prints the tree for two files

Wants torch-tb-profiler (pip install torch-tb-profiler). A node is {"left": side, "right": side, "children": […]}; a side has the
plugin's name, its times in microseconds and [name, calls, host, self host, device, self device] of the operators in it.

The second trace of the pair "stacks" is the first one after a change that the script makes: every third module is gone, some
operators take half as long and some have another name.
"""
import gzip, json, os, sys

from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.diffrun import compare_op_tree, diff_summary
from torch_tb_profiler.profiler.trace import EventTypeMap, EventTypes

# The release on PyPI is older than these spellings, which the plugin's last sources know.
EventTypeMap.update(cuda_runtime=EventTypes.RUNTIME, hip_runtime=EventTypes.RUNTIME)


def tree(trace):
    data = RunProfileData.from_json("worker", "0", trace)
    return next(iter(data.tid2tree.values()))


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        return json.load(f)


def side(s):
    ops = [[a.name, a.calls, a.host_duration, a.self_host_duration, a.device_duration, a.self_device_duration] for a in s.op_aggs]
    return {"name": s.name, "host": s.duration, "device": s.device_duration, "operators": ops}


def node(d):
    return {"left": side(d.left), "right": side(d.right), "children": [node(c) for c in d.children]}


def diff(base, new):
    return node(diff_summary(compare_op_tree(tree(base), tree(new))))


def changed(trace):
    out, modules = [], 0
    for e in trace["traceEvents"]:
        e = dict(e)
        name = e.get("name", "")
        if name.startswith("nn.Module: "):
            modules += 1
            if modules % 3 == 0:
                continue
        elif e.get("cat") == "cpu_op" and name == "aten::relu":
            e["name"] = "aten::gelu"
        elif e.get("cat") == "cpu_op" and name in ("aten::empty", "aten::as_strided_"):
            e["dur"] = e["dur"] / 2
        out.append(e)
    return dict(trace, traceEvents=out)


def main():
    if len(sys.argv) == 3:
        json.dump(diff(load(sys.argv[1]), load(sys.argv[2])), sys.stdout)
        return
    here = os.path.dirname(os.path.abspath(__file__))
    folder = os.path.join(here, "plugin")
    traces = {n: load(os.path.join(here, "torch", n + ".json.gz")) for n in ("plain", "flops_memory", "train_steps", "stacks")}
    other = changed(traces["stacks"])
    with gzip.GzipFile(os.path.join(folder, "stacks_changed.json.gz"), "wb", mtime=0) as f:
        f.write(json.dumps(other).encode())
    traces["stacks_changed"] = other
    for base, new in (("stacks", "stacks_changed"), ("train_steps", "stacks"), ("plain", "flops_memory")):
        with open(os.path.join(folder, f"{base}.{new}.diff.json"), "w") as f:
            json.dump(diff(traces[base], traces[new]), f, indent=None, separators=(",", ":"))
            f.write("\n")


if __name__ == "__main__":
    main()
