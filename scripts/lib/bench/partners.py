"""The row on the mirror between partner collections."""

import json
import re
import signal
import subprocess

import measure
from rows import line, row

RATE = 2_000

JOB = """partner: bench-tasks
source: bench.Task
target: bench.TaskV2
id: {from: objectId, to: string}
forward:
  - rename: {from: title, to: name}
  - convert: {field: priority, to: string}
reverse:
  - rename: {from: name, to: title}
  - convert: {field: priority, to: int}
limits: {oplog: off}
"""


@row("mirror")
def mirror(bench):
    """Measures how late a mirror is, and how many changes it has not carried over when the clients stop to write.

    Clients change both sides at a steady rate.
    """
    seconds = 10 if bench.quick else 60
    bench.data.ensure("A", bench.progress)
    bench.run_command({"aggregate": "Order", "cursor": {}, "pipeline": [
        {"$limit": 20_000}, {"$project": {"title": "$customer", "priority": "$quantity"}}, {"$out": "Task"}]}, "bench")
    job = bench.file("tasks.yml", JOB)

    def partner(command, *options):
        return [bench.shipshape, "partner", command, job, "--uri", bench.uri, *options]

    def once(command, *options):
        done = subprocess.run(partner(command, *options), capture_output=True, text=True)
        if done.returncode:
            raise measure.Failed(f"partner {command} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    once("init", "--yes")
    running = subprocess.Popen(partner("mirror", "-o", "json"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        bench.progress(f"{RATE:,} changes a second for {seconds} s")
        clients = subprocess.run([bench.tool("clients"), bench.uri, "bench", str(RATE), str(seconds)],
                                 capture_output=True, text=True, check=True).stdout
    finally:
        running.send_signal(signal.SIGTERM)
        result = json.loads(running.communicate()[0])
    left = json.loads(once("mirror", "--once", "-o", "json"))
    once("verify")
    sent, took = re.match(r"(\d+) changes in ([\d.]+) s", clients).groups()
    rest = left["to_target"] + left["to_source"]
    bench.progress(f"{clients.strip()}, {rest} left; {json.dumps(result)}")
    return [line(
        f"`partner mirror`, clients of both sides make {int(sent) / float(took):,.0f} changes/s", "",
        measured=f"{(result['to_target'] + result['to_source']) / float(took):,.0f} documents/s written",
        result=f"half carried over in {result['delay_p50_ms']} ms, 99% in {result['delay_p99_ms']} ms; {rest} left at the end",
        target=f"keeps up with {RATE:,} changes/s, less than 1 s behind",
        verdict="met" if rest < RATE and result["delay_p99_ms"] < 1_000 else "missed")]
