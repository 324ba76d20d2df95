#!/usr/bin/env python3
"""What `gander report` needs for large traces: wall time, and the largest resident size that the kernel saw.

usage: bench_report.py [BYTES]     default 1 GB for the key averages; the page is made of an eighth of it, gzipped

The traces are written by internal/tracegen, deleted afterwards, and read once beforehand, so that the disk is not measured.
"""
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time

RUNS = 3


def run(args):
    """Seconds and resident bytes of one run of a command."""
    begin = time.monotonic()
    child = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - begin
    if status:
        sys.exit(f"{args} failed with status {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss * 1024


def least(name, size, args):
    runs = [run(args) for _ in range(RUNS)]
    seconds, resident = min(r[0] for r in runs), max(r[1] for r in runs)
    print(f"{name}: {seconds:.2f} s ({size / seconds / 1e6:.0f} MB/s of JSON), {resident / 1e6:.0f} MB resident")


def generate(size, path):
    subprocess.run(["go", "run", "./tools/bench_peers", "trace", str(size), path], check=True, stdout=subprocess.DEVNULL)
    with open(path, "rb") as f:
        while f.read(1 << 24):
            pass


def main():
    size = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000_000
    with tempfile.TemporaryDirectory(prefix="gander-bench-") as folder:
        large, small, page = (os.path.join(folder, n) for n in ("large.json", "small.json", "page.html"))
        generate(size, large)
        least(f"{size / 1e6:.0f} MB to key averages", size, ["bin/gander", "report", "--csv", large])
        generate(size // 8, small)
        with open(small, "rb") as f, gzip.open(small + ".gz", "wb", compresslevel=6) as g:
            shutil.copyfileobj(f, g)
        least(f"{size / 8e6:.0f} MB, gzipped, to a page", size / 8, ["bin/gander", "report", small + ".gz", "-o", page])
        print(f"the page: {os.path.getsize(page) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
