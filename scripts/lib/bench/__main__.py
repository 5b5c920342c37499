"""The program of scripts/bench, which describes it."""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import measure
import backfills
import partners
from results import Results
from rows import ROWS
from server import Data, Server

CACHE_GIGABYTES = 8


class Bench:
    """The server, the data, the tools and the settings that all rows share."""

    def __init__(self, options, folder):
        self.quick = options.quick
        self.rounds = options.rounds
        self.folder = folder
        binaries = os.environ["SHIPSHAPE_BENCH_BIN"]
        self.shipshape = os.path.join(binaries, "shipshape")
        self.started = time.monotonic()
        self.row = ""
        #: The batch size of the tool `read`, which reads a collection by a cursor and judges nothing; 0 is the server's
        #: default. The benchmark `sweep` finds the fastest size.
        self.batch = 10_000
        self.server = Server(os.environ["SHIPSHAPE_BENCH_MONGOD"], folder, CACHE_GIGABYTES)
        self.uri = self.server.uri
        self.data = Data(os.path.join(binaries, "demo-data"), self.server, folder, options.scale,
                         settle=lambda: self.run_command({"fsync": 1}))

    def prepare(self):
        """Makes the mongod a primary."""
        subprocess.run([self.data.loader, "initiate", "--host", f"127.0.0.1:{self.server.port}", "--set", "bench"], check=True)

    def run_command(self, command, database="admin"):
        """Runs a command on the server."""
        subprocess.run([self.tool("write"), "run", self.uri, database, json.dumps(command)], check=True,
                       stdout=subprocess.DEVNULL)

    def progress(self, text):
        print(f"[{time.monotonic() - self.started:5.0f} s] {self.row}: {text}", file=sys.stderr, flush=True)

    def count(self, name):
        """Returns the number of documents in the set A, B, C or D."""
        return self.data.counts[name]

    def file(self, name, text):
        """Writes a file in the run's own folder, and returns its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as output:
            output.write(text)
        return path

    def tool(self, name):
        """Returns the path of a program of Benchmarks/, which is compiled when it is first needed."""
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            stem = name.removesuffix(".so")
            arguments = ["cc", "-O2", "-o", path, f"Benchmarks/{stem}.c"]
            if stem in ("read", "write", "clients"):
                flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libmongoc-1.0"],
                                       check=True, capture_output=True, text=True).stdout
                arguments += flags.split()
            if name.endswith(".so"):
                arguments += ["-shared", "-fPIC", "-ldl"]
            subprocess.run(arguments, check=True)
        return path

    def python(self):
        """Returns the path of a Python with pymongo and fastjsonschema, in a virtual environment of this run."""
        folder = os.path.join(self.folder, "venv")
        binary = os.path.join(folder, "bin", "python")
        if not os.path.exists(binary):
            self.progress("installs pymongo and fastjsonschema")
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([binary, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pymongo", "fastjsonschema"],
                           check=True, stdout=sys.stderr)
        return binary

    @property
    def python_versions(self):
        """The versions of the packages that the Python script uses."""
        listed = subprocess.run([self.python(), "-m", "pip", "list", "--disable-pip-version-check"],
                                check=True, capture_output=True, text=True).stdout
        versions = dict(text.split()[:2] for text in listed.splitlines() if text)
        return f"pymongo {versions['pymongo']}, fastjsonschema {versions['fastjsonschema']}"


def output(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.strip()


def machine(folder):
    """Returns the facts about the machine and its software on which the figures depend."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    with open("/proc/meminfo", encoding="utf-8") as file:
        memory = int(re.search(r"MemTotal:\s*(\d+)", file.read())[1]) / 2**20
    mongod = output(os.environ["SHIPSHAPE_BENCH_MONGOD"], "--version")
    return {
        "machine": f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB; "
                   "client and server share it",
        "kernel": platform.release(),
        "Swift": re.search(r"Swift version (\S+)", output("swift", "--version"))[1],
        "mongod": re.search(r"db version v(\S+)", mongod)[1] + f", WiredTiger cache {CACHE_GIGABYTES} GB, data in "
                  + ("memory (tmpfs)" if output("stat", "-f", "-c", "%T", folder) == "tmpfs" else "a folder of the disk"),
        "libmongoc": output("pkg-config", "--modversion", "libmongoc-1.0"),
    }


def revision():
    """Returns the commit that is measured, with a plus if the working copy of the program differs from it."""
    changed = output("git", "status", "--porcelain", "--", "Sources", "Package.swift")
    return output("git", "rev-parse", "--short", "HEAD") + ("+" if changed else "")


def parent_folder():
    """Returns the folder in which the run makes its own folder; None for the system's temporary folder.

    The run's folder is in memory if there is room for the data of all rows.
    """
    chosen = os.environ.get("SHIPSHAPE_BENCH_FOLDER")
    if chosen:
        return chosen
    is_roomy = os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 12 * 2**30
    return "/dev/shm" if is_roomy else None


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures shipshape and its references.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="measure these rows only")
    parser.add_argument("--quick", action="store_true", help="less data, 3 rounds; writes no file")
    parser.add_argument("--list", action="store_true", help="name the rows")
    parser.add_argument("--rounds", type=int, help="how often each row is measured (9, or 3 with --quick)")
    parser.add_argument("--scale", type=float, help="how many times the documents (1, or 0.07 with --quick)")
    options = parser.parse_args()
    unknown = [row for row in options.rows if row not in ROWS]
    if unknown:
        parser.error(f"no such row: {', '.join(unknown)}; there are: {', '.join(ROWS)}")
    options.rounds = options.rounds or (3 if options.quick else 9)
    options.scale = options.scale or (0.07 if options.quick else 1)
    return options


def main():
    options = arguments()
    if options.list:
        print("\n".join(ROWS))
        return 0
    # Without this variable, libmongoc's counters stay in /dev/shm after a program is killed.
    os.environ["MONGOC_DISABLE_SHM"] = "1"
    # These signals end the benchmark as Ctrl-C does, so that it stops its server and removes its files.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    results = Results(list(ROWS), is_kept=options.scale == 1 and not options.quick)
    failures = 0
    with tempfile.TemporaryDirectory(prefix="shipshape-bench.", dir=parent_folder()) as folder:
        known = machine(folder)
        bench = Bench(options, folder)
        try:
            bench.prepare()
            for line in results.rows.get("sweep", []):
                bench.batch = line["batch"]
            for name in options.rows or ROWS:
                bench.row = name
                stamp = {"date": datetime.date.today().isoformat(), "revision": revision()}
                try:
                    lines = ROWS[name](bench)
                except (measure.Failed, subprocess.CalledProcessError) as error:
                    failures += 1
                    print(f"scripts/bench: {name}: {error}", file=sys.stderr)
                    continue
                if name == "sweep":
                    bench.batch = lines[0]["batch"]
                results.add(name, lines, stamp, known)
        finally:
            # Stopping the server takes little time, and must not be interrupted.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            bench.server.stop()
    return 70 if failures else 0


try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
