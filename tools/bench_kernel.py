"""Latency of a Jupyter kernel beside ipykernel, in one run: what a user waits for.

    python tools/bench_kernel.py [--kernels gander,python3] [-n 200] [--starts 5] [--json FILE]

All times are milliseconds. A request is timed from before it is sent to after its answer is read, on raw sockets, so that
a client's own sleeps do not count:

  start       start of the process to the first kernel_info reply; the sockets are connected when the port is open, because
              ZeroMQ waits 100 ms before it tries a refused connection again
  execute     execute_request of a trivial cell to its idle
  kinfo, complete, is_complete    request to reply on the shell channel
  shutdown    shutdown_request to the end of the process
  rss         resident memory of the kernel and its children after the run, MiB
"""

import argparse
import json
import socket
import statistics
import time
from pathlib import Path

from jupyter_client.manager import KernelManager

CODES = {
    "gander": {"cell": "1", "complete": "strings.HasPre", "is_complete": "for i := 0; i < 3; i++ {"},
    "python3": {"cell": "1", "complete": "str.startsw", "is_complete": "for i in range(3):"},
}
clock = time.perf_counter


def rss(pid):
    """Proportional set size of a process and its descendants, in MiB (pages shared among them count once)."""
    total, todo = 0, [pid]
    while todo:
        p = todo.pop()
        try:
            for line in Path(f"/proc/{p}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
            for t in Path(f"/proc/{p}/task").iterdir():
                todo += [int(c) for c in (t / "children").read_text().split()]
        except OSError:
            pass
    return total / 1024


class Kernel:
    def __init__(self, name):
        self.km = KernelManager(kernel_name=name)
        start = clock()
        self.km.start_kernel()
        self.session = self.km.session
        while True:
            try:
                socket.create_connection((self.km.ip, self.km.shell_port), 1).close()
                break
            except OSError:
                time.sleep(0.001)
        self.shell = self.km.connect_shell(identity=self.session.bsession)
        self.iopub = self.km.connect_iopub()
        self.control = self.km.connect_control(identity=self.session.bsession)
        while True:  # a kernel that is not up yet answers late; one that came up before the connection answers the next
            mid = self.send("kernel_info_request", {})
            if self.reply(mid, 0.05):
                break
        self.start = (clock() - start) * 1e3
        while not self.receive(self.iopub, 0.2):  # until the subscription has arrived: output before it is not for us
            self.reply(self.send("kernel_info_request", {}))

    def send(self, kind, content, channel=None):
        msg = self.session.msg(kind, content)
        self.session.send(channel or self.shell, msg)
        return msg["header"]["msg_id"]

    def receive(self, channel, timeout):
        if not channel.poll(timeout * 1e3):
            return None
        _, frames = self.session.feed_identities(channel.recv_multipart())
        return self.session.deserialize(frames)

    def reply(self, mid, timeout=20):
        end = clock() + timeout
        while (left := end - clock()) > 0:
            msg = self.receive(self.shell, left)
            if msg and msg["parent_header"].get("msg_id") == mid:
                return msg
        return None

    def idle(self, mid, timeout=60):
        end = clock() + timeout
        while (left := end - clock()) > 0:
            msg = self.receive(self.iopub, left)
            if not msg or msg["parent_header"].get("msg_id") != mid:
                continue
            if msg["msg_type"] == "status" and msg["content"]["execution_state"] == "idle":
                return True
        raise TimeoutError("no idle")

    def execute(self, code):
        start = clock()
        mid = self.send("execute_request", {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True})
        self.idle(mid)
        took = (clock() - start) * 1e3
        assert self.reply(mid)["content"]["status"] == "ok"
        return took

    def ask(self, kind, content):
        start = clock()
        assert self.reply(self.send(kind, content)), kind
        return (clock() - start) * 1e3

    def stop(self):
        start = clock()
        self.send("shutdown_request", {"restart": False}, self.control)
        while self.km.provisioner.process.poll() is None:
            time.sleep(0.001)
        took = (clock() - start) * 1e3
        for s in (self.shell, self.iopub, self.control):
            s.close(0)
        self.km.cleanup_resources()
        return took


def measure(name, n, starts):
    code = CODES[name]
    out = {"start": [], "shutdown": []}
    for _ in range(starts):
        k = Kernel(name)
        out["start"].append(k.start)
        out["shutdown"].append(k.stop())
    k = Kernel(name)
    out["first_cell"] = [k.execute(code["cell"])]
    time.sleep(3)  # the background warm-up of either kernel is not what is measured
    for what in ("execute", "kinfo", "complete", "is_complete"):
        out[what] = []
    for _ in range(n):
        out["execute"].append(k.execute(code["cell"]))
        out["kinfo"].append(k.ask("kernel_info_request", {}))
        out["complete"].append(k.ask("complete_request", {"code": code["complete"], "cursor_pos": len(code["complete"])}))
        out["is_complete"].append(k.ask("is_complete_request", {"code": code["is_complete"]}))
    out["rss"] = [rss(k.km.provisioner.process.pid)]
    out["shutdown"].append(k.stop())
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--kernels", default="gander,python3")
    ap.add_argument("-n", type=int, default=200)
    ap.add_argument("--starts", type=int, default=5)
    ap.add_argument("--json")
    a = ap.parse_args()
    results = {name: measure(name, a.n, a.starts) for name in a.kernels.split(",")}
    names = list(results)
    print(f"{'median ms':14}" + "".join(f"{n:>12}" for n in names) + (f"{'ratio':>10}" if len(names) == 2 else ""))
    for what in ("start", "first_cell", "execute", "kinfo", "complete", "is_complete", "shutdown", "rss"):
        med = [statistics.median(results[n][what]) for n in names]
        label = "rss MiB" if what == "rss" else what
        line = f"{label:14}" + "".join(f"{m:12.2f}" for m in med)
        if len(names) == 2:
            line += f"{med[1] / med[0]:9.1f}x"
        print(line)
    if a.json:
        Path(a.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
