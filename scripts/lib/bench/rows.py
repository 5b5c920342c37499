"""The measurements: a function for each row of the targets, in the order in which they run."""

import json
import os
import re
import statistics
import subprocess

import measure
from measure import Command, Summary

#: The functions that take the measurements, each under the name that `row` gave it, in the order of their registration.
#: Each function returns lines of the table of results.
ROWS = {}

FLAT = "Benchmarks/flat/schema.json"
STRICT = "Benchmarks/flat/strict.json"
VALIDATOR = "Benchmarks/flat/validator.json"
NESTED = "Benchmarks/nested"


def row(name):
    """Registers a function as the measurement of the row with this name."""
    def named(function):
        ROWS[name] = function
        return function
    return named


def line(what, against, **figures):
    """Returns one line of the table; cells without a value are empty."""
    return {"what": what, "against": against, "measured": "", "reference": "", "result": "", "noise": "",
            "target": "", "verdict": "", "rounds": 1, **figures}


def pair_line(what, against, measured, reference, limit, again=None, factor=1.0):
    """Returns the line that compares two measured series; the ratio is multiplied by `factor`."""
    ratio = measure.ratios([factor * seconds for seconds in measured], reference)
    noise = measure.noise(reference, again)
    return line(
        what, against, measured=f"{statistics.median(measured):.2f} s", reference=f"{statistics.median(reference):.2f} s",
        result=str(ratio), noise=str(noise) if noise else "", target=f"≤ {limit:g}" if limit else "",
        verdict=measure.verdict(ratio, limit), rounds=len(measured))


def pair(bench, what, against, measured, reference, limit, repeats_reference=True):
    """Measures a command against a reference, and returns the line.

    With `repeats_reference`, the reference runs twice in each round, to measure the noise. Pass False for a slow run.
    """
    commands = {"measured": measured, "reference": reference}
    if repeats_reference:
        commands["again"] = reference
    seconds = measure.alternate(commands, bench.rounds, bench.progress)
    return pair_line(what, against, seconds["measured"], seconds["reference"], limit, seconds.get("again"))


def check(bench, schema, collection, *options, count, uri=None, strict_failing=False, environment=None):
    """Returns the command that checks a collection of the server."""
    failing = count // 10
    expect = f"{count:,} documents read.*, all fit" if not strict_failing else rf"at worst {failing:,}, "
    return Command(
        [bench.shipshape, "check", schema, "--collection", f"bench.{collection}", "--uri", uri or bench.uri, "--quiet",
         *options], expect, (1,) if strict_failing else (0,), environment=environment)


def cursor(bench, collection, count, batch):
    """Returns the command that reads a collection by a bare cursor; batch 0 means the server's default size."""
    return Command(
        [bench.tool("read"), "cursor", bench.uri, "bench", collection, *([str(batch)] if batch else [])],
        f"^{count} documents")


@row("version")
def version(bench):
    command = Command([bench.shipshape, "--version"])
    command.run()
    times = Summary([1000 * command.run()[0] for _ in range(21)])
    return [line("`shipshape --version`", "", measured=f"{times.median:.1f} ms", target="< 30 ms", rounds=21,
                 result=f"{times.low:.1f} to {times.high:.1f} ms", verdict=measure.verdict(times, 30))]


@row("checker")
def checker(bench):
    """Measures the checker alone, with the micro-benchmarks."""
    arguments = ["scripts/micro", "--json", "--only", "by schema, A", "--repetitions", str(bench.rounds)]
    if bench.quick:
        arguments += ["--documents", "50000"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    found = []
    for benchmark in json.loads(done.stdout)["benchmarks"]:
        rates = Summary([benchmark["bytes"] / float(seconds) / 1e9 for seconds in benchmark["seconds"]])
        allocations = float(benchmark["allocations_per_item"])
        # A run makes a few allocations only once, such as for a table that grows. These do not count.
        is_free = allocations < 0.001
        verdict = "missed" if not is_free or rates.high < 3 else "met" if rates.median >= 3 else "within noise"
        found.append(line(
            f"checker alone, in memory, one core: {benchmark['name']}", "", rounds=len(benchmark["seconds"]),
            measured=f"{rates.median:.2f} GB/s", result=f"{rates.low:.2f} to {rates.high:.2f} GB/s, "
            f"{allocations:.5f} allocations per document", target="≥ 3 GB/s, 0 allocations", verdict=verdict))
    return found


@row("sweep")
def sweep(bench):
    """Measures at which batch size the bare cursor is fastest."""
    bench.data.ensure("A", bench.progress)
    sizes = [0, 1_000, 3_000, 10_000, 30_000, 100_000]
    commands = {str(size): cursor(bench, "Order", bench.count("A"), size) for size in sizes}
    seconds = measure.alternate(commands, max(3, bench.rounds // 2), bench.progress)
    medians = {size: statistics.median(times) for size, times in seconds.items()}
    best = min(medians, key=medians.get)
    shown = ", ".join(f"{size if size != '0' else 'none'}: {median:.2f} s" for size, median in medians.items())
    return [line("bare cursor by batch size, A", "", measured=f"{medians[best]:.2f} s", rounds=len(seconds[best]),
                 result=f"{shown}; best: {best if best != '0' else 'none'}", batch=int(best))]


def live(bench, name, schema, collection):
    bench.data.ensure(name, bench.progress)
    count = bench.count(name)
    return [pair(bench, f"`check`, live, {name}", f"a bare cursor (batch size {bench.batch or 'not given'})",
                 check(bench, schema, collection, count=count), cursor(bench, collection, count, bench.batch), 0.8)]


@row("live-a")
def live_flat(bench):
    return live(bench, "A", FLAT, "Order")


@row("live-b")
def live_nested(bench):
    return live(bench, "B", NESTED, "Voyage")


def server_count(bench):
    return Command([bench.tool("read"), "count", bench.uri, "bench", "Order", VALIDATOR], "^0 documents do not fit")


@row("jsonschema")
def jsonschema(bench):
    """Measures checks by an App Services schema, which has a target, and by the same schema as a validator."""
    bench.data.ensure("A", bench.progress)
    count = bench.count("A")
    validator = bench.file("validator.json", f'{{"$jsonSchema": {open(VALIDATOR, encoding="utf-8").read()}}}')
    server = server_count(bench)
    seconds = measure.alternate(
        {"check": check(bench, FLAT, "Order", count=count), "by validator": check(bench, validator, "Order", count=count),
         "count": server, "again": server}, bench.rounds, bench.progress)
    against = "`countDocuments({$nor: [{$jsonSchema}]})`"
    return [pair_line(what, against, seconds[name], seconds["count"], limit, seconds["again"])
            for what, name, limit in [("`check`, live, A", "check", 0.35),
                                      ("`check` by the validator, live, A", "by validator", None)]]


@row("python")
def python(bench):
    """Measures a check against a Python script.

    The noise is measured between rounds, because a run of the script takes long.
    """
    bench.data.ensure("A", bench.progress)
    count = bench.count("A")
    script = Command([bench.python(), "Benchmarks/check.py", bench.uri, "bench", "Order", "Benchmarks/flat/python.json"],
                     f"^{count} documents, 0 do not fit")
    return [pair(bench, "`check`, live, A", f"Python, {bench.python_versions}", check(bench, FLAT, "Order", count=count),
                 script, 0.1, repeats_reference=False)]


@row("findings")
def findings(bench):
    for name in "AC":
        bench.data.ensure(name, bench.progress)
    count = bench.count("A")
    return [pair(bench, "`check` with findings, C (`--strict`, 20 ways)", "`check` without findings, A, same schema",
                 check(bench, STRICT, "Flawed", "--strict", count=count, strict_failing=True),
                 check(bench, STRICT, "Order", "--strict", count=count), 1.3)]


@row("file")
def file(bench):
    bench.data.ensure("file", bench.progress)
    count = bench.count("A")
    source = Command([bench.shipshape, "check", FLAT, "--collection", "bench.Order", "--source", bench.data.file,
                      "--quiet"], f"{count:,} documents read.*, all fit", environment={"SHIPSHAPE_THREADS": "2"})
    reader = Command([bench.tool("read"), "file", bench.data.file], f"^{count} documents")
    return [pair(bench, "`check --source x.bson`, A, 2 threads", "a `bson_reader_new_from_file` loop", source, reader, 1.0)]


@row("allocations")
def allocations(bench):
    """Measures the allocations of the whole program per document of a file.

    The row subtracts the allocations for a file from those for a file with twice the documents.
    """
    def mallocs(count):
        path = os.path.join(bench.folder, f"{count}.bson")
        subprocess.run([bench.data.loader, "flat", "--file", path, "--count", str(count)], check=True)
        _, text = Command([bench.shipshape, "check", FLAT, "--collection", "bench.Order", "--source", path, "--quiet"],
                          environment={"LD_PRELOAD": bench.tool("mallocs.so")}).run()
        os.remove(path)
        return int(re.search(r"(\d+) mallocs", text)[1])

    few, many = mallocs(100_000), mallocs(200_000)
    return [line("allocations of `check --source x.bson`, A", "", measured=f"{(many - few) / 100_000:.5f} per document",
                 result=f"{few:,} for 100,000 documents, {many:,} for 200,000")]


@row("prefilter")
def prefilter(bench):
    """Measures a prefiltered check against a plain one over a slow link.

    The noise is measured between rounds, because a run takes long.
    """
    bench.data.ensure("C", bench.progress)
    count = bench.count("C")
    # The proxy ends when its standard input closes, so that it never outlives the bench.
    proxy = subprocess.Popen([bench.tool("proxy"), str(bench.server.port), "10", "100"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        # The connection is direct, because a driver that knows the replica set would bypass the proxy.
        uri = f"mongodb://127.0.0.1:{int(proxy.stdout.readline())}/?directConnection=true"
        options = {"count": count, "uri": uri}
        return [pair(bench, "`check` with `prefilter`, C, 20 ms round trip, 100 Mbit/s", "`check`, same link",
                     check(bench, STRICT, "Flawed", "--strict", strict_failing=True,
                           environment={"SHIPSHAPE_PREFILTER": "true"}, **options),
                     check(bench, STRICT, "Flawed", "--strict", strict_failing=True, **options), 0.25,
                     repeats_reference=False)]
    finally:
        proxy.stdin.close()
        proxy.wait()


def watch_memory(bench, command):
    """Makes each run of a command append its peak memory in MiB to a list, and returns the list."""
    path = os.path.join(bench.folder, "peak-memory")
    command.arguments = [bench.tool("peak"), path, *command.arguments]
    run, peaks = command.run, []

    def run_and_note():
        result = run()
        with open(path, encoding="utf-8") as file:
            peaks.append(int(file.read()) / 1024)
        return result

    command.run = run_and_note
    return peaks


def memory_line(what, against, many, few):
    """Returns the line that compares the peak memory over many documents with the peak memory over few.

    The highest value of all runs counts.
    """
    ratio = max(many) / max(few)
    is_met = ratio <= 1.1 and max(many) < 100
    return line(what, against, measured=f"{max(many):.1f} MiB", reference=f"{max(few):.1f} MiB", result=f"{ratio:.2f}",
                noise=f"{against}: {min(few):.1f} to {max(few):.1f} MiB", target="≤ 1.1, < 100 MiB",
                verdict="met" if is_met else "missed", rounds=len(many))


@row("tenfold")
def tenfold(bench):
    """Measures time and memory of a check of ten times the documents."""
    for name in "AD":
        bench.data.ensure(name, bench.progress)
    many = check(bench, FLAT, "Tenfold", count=bench.count("D"))
    few = check(bench, FLAT, "Order", count=bench.count("A"))
    peaks = [watch_memory(bench, command) for command in (many, few)]
    seconds = measure.alternate({"D": many, "A": few, "again": few}, bench.rounds, bench.progress)
    # The data set D has more documents than A. The factor therefore turns the ratio of the total times into the ratio
    # of the times per document.
    time = pair_line("`check`, live, D: time per document", "A", seconds["D"], seconds["A"], 1.1, seconds["again"],
                     factor=bench.count("A") / bench.count("D"))
    return [time, memory_line("`check`, live, D: peak memory", "A", *peaks)]
