"""The rows on backfills, each compared with an update written by hand."""

import json

import measure
from measure import Command
from rows import line, memory_line, pair_line, row, watch_memory

#: The changes that the rows measure: the steps of a job, and the same update by hand. If a change has `stages`, these
#: aggregation stages prepare the documents. If only one in 50 documents needs the change, `every` is 50.
RETYPE = {
    "steps": "[{convert: {field: quantity, to: string}}]",
    "by hand": {"q": {"quantity": {"$type": "int"}}, "u": [{"$set": {"quantity": {"$toString": "$quantity"}}}]},
}
ADDITIVE = {
    "steps": "[{copy: {from: customer, to: buyer}}, {default: {field: currency, value: EUR}}]",
    "by hand": {"q": {"currency": {"$exists": False}}, "u": [{"$set": {"buyer": "$customer", "currency": "EUR"}}]},
}
SPARSE = {
    "stages": [{"$set": {"surname": {"$cond": [{"$eq": [{"$mod": ["$serial", 50]}, 0]}, "$customer", "$$REMOVE"]}}}],
    "every": 50,
    "steps": "[{rename: {from: surname, to: lastName}}]",
    "by hand": {"q": {"surname": {"$exists": True}}, "u": {"$rename": {"surname": "lastName"}}},
}
#: The change of documents with one to five items. The `currency` of the items is missing, null and present in turn.
ITEMS = {
    "stages": [{"$set": {"items": {"$map": {
        "input": {"$range": [0, {"$add": [1, {"$mod": ["$serial", 5]}]}]}, "as": "index", "in": {
            "sku": {"$concat": [{"$toString": "$serial"}, "-", {"$toString": "$$index"}]},
            "price": {"$add": ["$total", "$$index"]},
            "currency": {"$switch": {"branches": [
                {"case": {"$eq": [{"$mod": ["$$index", 3]}, 0]}, "then": "$$REMOVE"},
                {"case": {"$eq": [{"$mod": ["$$index", 3]}, 1]}, "then": None}], "default": "USD"}},
        }}}}}],
    "steps": '[{default: {field: "items.[].currency", value: EUR, when: missingOrNull}}]',
    "by hand": {"q": {"items": {"$elemMatch": {"currency": None}}},
                "u": {"$set": {"items.$[item].currency": "EUR"}}, "arrayFilters": [{"item.currency": None}]},
}


def job_file(bench, name, collection, change):
    """Writes the file of a job, and returns its path.

    Each job has its own name, because the program binds a job to the collection that it ran over.
    """
    # The limit on the oplog window is off: the bench fills the oplog in minutes, and no other program reads the oplog.
    return bench.file(f"{name}.yml", f"job: bench-{name}\ncollection: bench.{collection}\nsteps: {change['steps']}\n"
                                     "limits: {oplog: off}\n")


class Work:
    """A collection to change, which has the same documents at the start of every run."""

    def __init__(self, bench, name, change, count, source="Order"):
        self.bench = bench
        self.change = change
        self.count = count
        #: The number of documents that need the change.
        self.needy = -(-count // change.get("every", 1))
        self.kept = f"Kept-{name}"
        self.job = job_file(bench, name, "Work", change)
        bench.data.ensure("D" if source == "Tenfold" else "A", bench.progress)
        bench.progress(f"prepares {count:,} documents")
        self._copy(source, self.kept, [{"$match": {"serial": {"$lt": count}}}, *change.get("stages", [])])

    def _copy(self, source, target, stages=()):
        self.bench.run_command({"aggregate": source, "pipeline": [*stages, {"$out": target}], "cursor": {}}, "bench")

    def reset(self):
        """Restores the documents from the kept copy, and drops the state database of earlier jobs."""
        self.bench.run_command({"dropDatabase": 1}, "shipshape")
        self._copy(self.kept, "Work")
        # The server flushes its data to disk, so that earlier writes do not slow down the measured run.
        self.bench.run_command({"fsync": 1})

    def drop(self):
        """Drops the collection and its kept copy."""
        for name in (self.kept, "Work"):
            self.bench.run_command({"drop": name}, "bench")

    def by_hand(self):
        """Returns a command that makes the change with one `updateMany`."""
        update = {"update": "Work", "updates": [{**self.change["by hand"], "multi": True}], "writeConcern": {"w": "majority"}}
        return self._bare("run", json.dumps(update))

    def in_bulks(self, loop):
        """Returns a command that makes the change with one update per document, by a loop of Benchmarks/write.c."""
        return self._bare(loop, "Work")

    def _bare(self, *arguments):
        mode, last = arguments
        return Command([self.bench.tool("write"), mode, self.bench.uri, "bench", last], f"^{self.needy} documents changed",
                       before=self.reset)

    def backfill(self, *options):
        # A rename may count a document twice, because it copies the field and then removes it.
        return self.runner("backfill", "--yes", *options, expect=f"changed ({self.needy:,}|{2 * self.needy:,}) of",
                           before=self.reset)

    def runner(self, command, *options, expect, before):
        return Command([self.bench.shipshape, command, self.job, "--uri", self.bench.uri, "--quiet", *options], expect,
                       before=before)


def against_update(bench, name, change, what, limits, count=500_000):
    """Measures a backfill without and with journal against one `updateMany`; returns the collection and the lines."""
    work = Work(bench, name, change, bench.data.scaled(count))
    by_hand = work.by_hand()
    seconds = measure.alternate({"by hand": by_hand, "without": work.backfill("--no-journal"), "with": work.backfill(),
                                 "again": by_hand}, bench.rounds, bench.progress, warm=False)
    return work, [
        pair_line(f"`backfill` {how} journal, {what}", "one `updateMany`", seconds[how], seconds["by hand"], limit,
                  seconds["again"])
        for how, limit in zip(("without", "with"), limits)]


def against_bulks(bench, work, loop, what, limit, rounds):
    """Measures a backfill with journal against one update per document; returns the line."""
    seconds = measure.alternate({"bulks": work.in_bulks(loop), "with": work.backfill()}, rounds, bench.progress, warm=False)
    return pair_line(f"`backfill` with journal, {what}", "one update per document, in bulks of 1,000", seconds["with"],
                     seconds["bulks"], limit)


@row("additive")
def additive(bench):
    return against_update(bench, "additive", ADDITIVE, "a copy and a default on all", (1.0, 1.05))[1]


@row("sparse")
def sparse(bench):
    return against_update(bench, "sparse", SPARSE, "a rename that 2% need", (1.4, 1.6))[1]


@row("retype")
def retype(bench):
    work, lines = against_update(bench, "retype", RETYPE, "in-place retype", (1.1, 1.25))
    # This comparison has fewer rounds, because it is slow and because no target is set for its result.
    return [*lines, against_bulks(bench, work, "retype", "in-place retype", None, max(1, bench.rounds // 4))]


@row("lists")
def lists(bench):
    """Measures a default in the elements of lists.

    The row has fewer documents than other rows, because whether a list needs the change is evaluated document by
    document.
    """
    what = "a default in the elements of lists"
    work, lines = against_update(bench, "lists", ITEMS, what, (None, None), count=20_000)
    return [*lines, against_bulks(bench, work, "items", what, 1, bench.rounds)]


@row("nothing")
def nothing(bench):
    """Measures a job that has nothing to do, because all documents already have the change."""
    done = {"stages": RETYPE["by hand"]["u"], **RETYPE}
    work = Work(bench, "nothing", done, bench.data.scaled(500_000))
    work.reset()
    query = RETYPE["by hand"]["q"]
    count = Command([bench.tool("read"), "matching", bench.uri, "bench", "Work", json.dumps(query)], "^0 documents")
    job = work.runner("backfill", "--yes", expect="changed 0 of",
                      before=lambda: bench.run_command({"dropDatabase": 1}, "shipshape"))
    seconds = measure.alternate({"job": job, "count": count, "again": count}, bench.rounds, bench.progress)
    return [pair_line("`backfill` with journal, nothing needs it", "`countDocuments` by the filter of the `updateMany`",
                      seconds["job"], seconds["count"], 1.3, seconds["again"])]


@row("undo")
def undo(bench):
    """Measures an undo; the reference of each undo is the run of the job before it."""
    work = Work(bench, "undo", RETYPE, bench.data.scaled(500_000))
    run = work.backfill()
    runs = []
    take_back = work.runner("undo", "--yes", expect=f"{work.needy:,}", before=lambda: runs.append(run.run()[0]))
    seconds = measure.alternate({"undo": take_back}, bench.rounds, bench.progress, warm=False)
    return [pair_line("`undo`, in-place retype", "the run with journal", seconds["undo"], runs, 1.3)]


@row("growth")
def growth(bench):
    """Measures the memory of a job with journal over ten times the documents.

    The row measures once, because the memory does not vary.
    """
    peaks = []
    for name, source in (("D", "Tenfold"), ("A", "Order")):
        work = Work(bench, f"growth-{name}", RETYPE, bench.count(name), source)
        command = work.backfill()
        peaks.append(watch_memory(bench, command))
        bench.progress(f"{command.run()[0]:.2f} s")
        work.drop()
    return [memory_line("`backfill` with journal, in-place retype, D: peak memory", "A", *peaks)]


@row("dry-run")
def dry_run(bench):
    """Measures a dry run against a query that computes the same change."""
    bench.data.ensure("A", bench.progress)
    count = bench.count("A")
    job = job_file(bench, "dry-run", "Order", RETYPE)
    run = Command([bench.shipshape, "backfill", job, "--uri", bench.uri, "--dry-run", "--quiet"],
                  f"would change {count:,} of {count:,} documents")
    by_hand = Command([bench.tool("read"), "aggregate", bench.uri, "bench", "Order", "Benchmarks/flat/retype.json"],
                      f"^{count} documents")
    seconds = measure.alternate({"dry run": run, "by hand": by_hand, "again": by_hand}, bench.rounds, bench.progress)
    what = "`backfill --dry-run`, A"
    return [pair_line(what, "the change by hand (`$match`, `$set`), by a bare cursor", seconds["dry run"],
                      seconds["by hand"], 1.0, seconds["again"])]


