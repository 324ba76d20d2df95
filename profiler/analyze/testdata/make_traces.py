#!/usr/bin/env python3
"""Make traces with torch.profiler (CPU) and keep, beside each, what torch itself says of it.

usage: make_traces.py [FOLDER]        (default: the folder torch beside this script)

For each case there are NAME.json.gz (the exported Chrome trace, without host names and paths) and NAME.json: the rows of
key_averages() and the texts of table() for the groupings and sort keys that the tests compare. Times there are microseconds.
The traces differ from run to run; commit a trace only together with its tables.
"""
import gzip, json, os, re, sys, tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1, groups=1)
        self.grouped = torch.nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=4)
        self.fc = torch.nn.Linear(8 * 8 * 8, 10)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = torch.relu(self.grouped(x))
        return self.fc(x.flatten(1))


def train(prof=None, steps=1):
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(steps):
        x, y = torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))
        with record_function("forward pass"):
            loss = torch.nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if prof is not None:
            prof.step()


def arithmetic():
    a, b = torch.randn(32, 48), torch.randn(48, 16)
    c = torch.mm(a, b)
    d = torch.addmm(torch.zeros(16), a, b) * c + c
    e = torch.bmm(torch.randn(5, 7, 9), torch.randn(5, 9, 11))
    f = torch.baddbmm(torch.randn(5, 7, 11), torch.randn(5, 7, 9), torch.randn(5, 9, 11))
    with record_function('a "quoted" range with a very long name, longer than any column of torch\'s table is wide by default'):
        with record_function("aten::add"):  # a user's range with an operator's name
            g = torch.nn.functional.conv2d(torch.randn(2, 4, 9, 9), torch.randn(6, 2, 3, 3), stride=(2, 1), padding=1, groups=2)
    h = torch.nn.functional.conv1d(torch.randn(2, 4, 9), torch.randn(6, 4, 3))
    return d.sum() + e.sum() + f.sum() + g.sum() + h.sum() + torch.cat([a, a]).sum()


CASES = {
    "plain": dict(run=lambda p: arithmetic()),
    "flops_memory": dict(run=lambda p: arithmetic(), record_shapes=True, profile_memory=True, with_flops=True),
    "train_steps": dict(run=lambda p: train(p, 6), record_shapes=True, profile_memory=True, with_flops=True,
                        schedule=schedule(wait=1, warmup=1, active=2, repeat=1)),
    "stacks": dict(run=lambda p: train(None, 1), record_shapes=True, with_stack=True),
}

COLUMNS = ["key", "count", "self_cpu_time_total", "cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "flops"]


def rows(averages):
    out = []
    for e in averages:
        r = {c: getattr(e, c) for c in COLUMNS}
        r["input_shapes"] = str(e.input_shapes) if e.input_shapes else ""
        out.append(r)
    return out


def scrub(path, out):
    d = json.load(open(path))
    for k in ("traceName", "metadata", "host_name"):
        d.pop(k, None)
    for e in d["traceEvents"]:
        if e.get("ph") == "M" and e["name"] in ("process_name", "process_labels"):
            e["args"] = {k: "python" if k == "name" else v for k, v in e["args"].items()}
        e["name"] = re.sub(r"^(/[^()]*/)([^/()]+\.py\(\d+\))", r"\2", e["name"])
    with open(out, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as f:
        f.write(json.dumps(d, separators=(",", ":")).encode())


def main(folder):
    os.makedirs(folder, exist_ok=True)
    arithmetic(), train()  # warm up
    for name, case in CASES.items():
        run = case.pop("run")
        with profile(activities=[ProfilerActivity.CPU], acc_events=True, **case) as p:
            run(p)
        with tempfile.TemporaryDirectory() as d:
            p.export_chrome_trace(d + "/t.json")
            scrub(d + "/t.json", f"{folder}/{name}.json.gz")
        want = {"torch": torch.__version__, "rows": rows(p.key_averages()), "tables": {}}
        want["rows_by_shape"] = rows(p.key_averages(group_by_input_shape=True))
        for sort in ["", "self_cpu_time_total", "cpu_time_total", "count", "self_cpu_memory_usage"]:
            want["tables"][sort] = p.key_averages().table(sort_by=sort or None, row_limit=-1)
        want["table_by_shape"] = p.key_averages(group_by_input_shape=True).table(sort_by="self_cpu_time_total", row_limit=10)
        want["table_top_level"] = p.key_averages().table(sort_by="cpu_time_total", row_limit=10, top_level_events_only=True)
        with open(f"{folder}/{name}.json", "w") as f:
            json.dump(want, f, indent=0)


main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch"))
