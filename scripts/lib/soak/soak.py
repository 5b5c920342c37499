"""Runs commands of the program at the same time for minutes or hours, and reports whether anything grows or fails.

    soak.py PROGRAM MONGOD-PID PORT FOLDER MINUTES SEED

On one replica set, users write, two watches run, a check runs about once a minute, and jobs are run, undone and cleaned
up in a loop. Now and then, the soak kills a command, or makes the primary step down. At the end, every document has to
be what the last job makes of the users' last write, and each ledger has to contain exactly the documents that a full
check finds failing. The soak exits with 1 if anything is wrong.
"""

import collections
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time

from users import Users
from wire import Connection, Refused

PROGRAM, MONGOD, PORT, FOLDER, MINUTES, SEED = sys.argv[1], *map(int, sys.argv[2:4]), sys.argv[4], *map(int, sys.argv[5:7])
URI = f"mongodb://127.0.0.1:{PORT}/?replicaSet=soak"
PEOPLE, WRITES_A_SECOND = 600, 3
DATABASE, STATE, OTHER_STATE = "soak", "shipshape", "shipshape_other"
KILL = {"backfill": 0.4, "undo": 0.4, "cleanup": 0.2, "check": 0.1}

SCHEMA = {
    "title": "Person", "bsonType": "object", "required": ["_id", "name", "age", "email"],
    "properties": {"_id": {"bsonType": "int"}, "name": {"bsonType": "string"}, "age": {"bsonType": "int"},
                   "email": {"bsonType": "string"}},
}
JOB = """job: {name}
collection: soak.person
steps:
  - default: {{field: email, value: ""}}
  - convert: {{field: age, to: int}}
limits: {{chunk: {{documents: 20}}, nice: 2}}
"""


class Soak:
    def __init__(self):
        self.end = time.monotonic() + MINUTES * 60
        self.random, self.users = random.Random(SEED + 1), Users(PORT, DATABASE, SEED)
        self.connection = Connection(PORT)
        self.runs, self.killed = collections.Counter(), collections.Counter()
        self.elections = self.jobs = 0
        self.watch = self.other = None
        self.wrong, self.rows = [], []
        self.used, self.at = 0.0, time.monotonic()
        self.lock = threading.Lock()

    @property
    def is_over(self):
        return time.monotonic() >= self.end or bool(self.wrong)

    def complain(self, text):
        with self.lock:
            self.wrong.append(text)
        print(f"WRONG: {text}", flush=True)

    def nap(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.is_over:
            time.sleep(0.2)

    def start(self, words, state=STATE, errors=subprocess.PIPE):
        settings = {"SHIPSHAPE_STATE_DATABASE": state, "SHIPSHAPE_LEDGER": "none", "SHIPSHAPE_LEASE_TTL": "5s"}
        return subprocess.Popen([PROGRAM, *words, "--uri", URI], env=os.environ | settings, stdout=subprocess.DEVNULL,
                                stderr=errors, text=True, errors="replace")

    def finish(self, words, state=STATE, expected=(0, 1), spared=False):
        """Runs a command until it ends with an expected code, at most 30 times; returns the code, or None if it fails.

        The soak may kill the command, unless it is spared, and an election may interrupt the command.
        """
        command = {"job": "cleanup", "ledger": "watch"}.get(words[0], words[0])
        for _ in range(30):
            process, reason = self.start(words, state), ""
            if not spared and not self.is_over and self.random.random() < KILL.get(command, 0):
                try:
                    reason = process.communicate(timeout=self.random.uniform(0.2, 4))[1]
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL if self.random.random() < 0.8 else signal.SIGTERM)
            reason += process.communicate()[1] or ""
            with self.lock:
                self.runs[command, process.returncode] += 1
                self.killed[command] += process.returncode == -signal.SIGKILL
            if process.returncode in expected:
                return process.returncode
            # With one of these codes, the program was killed or stopped, lost the server, or found a dead runner's
            # lease. The soak then runs the command again.
            if process.returncode not in (-signal.SIGKILL, -signal.SIGTERM, 69, 75, 76):
                return self.complain(f"{' '.join(words)} ended with {process.returncode}: {reason[-600:]}")
            time.sleep(1)
        return self.complain(f"{' '.join(words)} did not come to an end")

    # The activities that run at the same time

    def write(self):
        while not self.is_over:
            self.users.act()
            time.sleep(1 / WRITES_A_SECOND)

    def job(self):
        self.jobs += 1
        name = f"soak-{self.jobs}"
        with open(f"{FOLDER}/{name}.yml", "w", encoding="utf-8") as file:
            file.write(JOB.format(name=name))
        return name

    def run_jobs(self):
        while not self.is_over:
            name = self.job()
            self.finish(["backfill", f"{FOLDER}/{name}.yml", "--yes", "--quiet"])
            self.finish(["undo", name, "--yes", "--quiet"])
            self.finish(["job", "cleanup", name, "--yes"])
            os.remove(f"{FOLDER}/{name}.yml")
            self.nap(self.random.uniform(5, 15))

    def watching(self, state):
        words = ["ledger", "follow", f"{FOLDER}/person.json", "--collection", "soak.person", "--quiet"]
        with open(f"{FOLDER}/{state}.log", "a", encoding="utf-8") as log:
            return self.start(words, state, log)

    def said(self, state):
        with open(f"{FOLDER}/{state}.log", encoding="utf-8", errors="replace") as log:
            return log.read()[-600:]

    def check(self, *more):
        return self.finish(["check", f"{FOLDER}/person.json", "--collection", "soak.person", "--history", f"{FOLDER}/history",
                            "--metrics", f"{FOLDER}/check.prom", "--quiet", *more])

    def disturb(self):
        """Makes the primary step down, or kills the second watch, every 20 to 60 seconds until the soak is over."""
        while not self.is_over:
            self.nap(self.random.uniform(20, 60))
            if self.random.random() < 0.3:
                try:
                    Connection(PORT).run("admin", {"replSetStepDown": 1, "secondaryCatchUpPeriodSecs": 0, "force": True})
                except (OSError, Refused):
                    pass
                self.elections += 1
            else:
                self.other.kill()
                self.other.wait()
                with self.lock:
                    self.killed["watch"] += 1
                self.other = self.watching(OTHER_STATE)

    # The measurements

    def patiently(self, database, command):
        while True:
            try:
                return self.connection.run(database, command)
            except (OSError, Refused):
                time.sleep(0.5)

    def load(self):
        """Returns the processor time that all processes took since the previous call, in percent of one core."""
        used = processor(MONGOD) + processor(self.watch.pid) + processor(self.other.pid)
        used += sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        now = time.monotonic()
        share = (used - self.used) / (now - self.at) * 100
        self.used, self.at = used, now
        return max(0, share)

    def measure(self, minute):
        state = self.patiently(STATE, {"dbStats": 1})
        ledger = self.patiently(STATE, {"count": "unsynced_documents"})["n"]
        row = {
            "watch MiB": resident(self.watch.pid), "watch files": open_files(self.watch.pid),
            "mongod MiB": resident(MONGOD), "connections": self.patiently("admin", {"serverStatus": 1})["connections"]["current"],
            "state KiB": state["dataSize"] / 1024, "state documents": state["objects"] - ledger, "ledger entries": ledger,
            "person documents": len(self.users.truth), "core %": self.load(),
        }
        self.rows.append(row)
        codes = collections.Counter()
        for (_, code), count in self.runs.items():
            codes[code] += count
        print(f"{minute:4} min  " + "  ".join(f"{name} {value:.0f}" for name, value in row.items())
              + f"  jobs {self.jobs}  elections {self.elections}  writes {self.users.writes}  runs by code "
              + " ".join(f"{code}:{count}" for code, count in sorted(codes.items())), flush=True)

    # The whole run

    def run(self):
        try:
            self.go()
        finally:
            for watch in (self.watch, self.other):
                if watch is not None and watch.poll() is None:
                    watch.kill()
        return 1 if self.wrong else 0

    def go(self):
        with open(f"{FOLDER}/person.json", "w", encoding="utf-8") as file:
            json.dump(SCHEMA, file)
        self.users.insert(PEOPLE)
        self.watch, self.other = self.watching(STATE), self.watching(OTHER_STATE)
        threads = [threading.Thread(target=work) for work in (self.write, self.run_jobs, self.disturb)]
        for thread in threads:
            thread.start()
        minute = 0
        while not self.is_over:
            self.check()
            minute += 1
            rest = self.end - MINUTES * 60 + minute * 60 - time.monotonic()
            while rest > 0 and not self.wrong and self.watch.poll() is None:
                time.sleep(min(rest, 1))
                rest -= 1
            if self.watch.poll() is not None:
                self.complain(f"the watch ended with {self.watch.returncode}: {self.said(STATE)}")
            else:
                self.measure(minute)
        for thread in threads:
            thread.join()
        self.verify()
        self.tell()

    def verify(self):
        """Runs one last job, which makes all documents fit, and then checks every document and both ledgers."""
        name = self.job()
        self.finish(["backfill", f"{FOLDER}/{name}.yml", "--yes", "--quiet"], spared=True)
        expected = {number: {**person, "age": int(person["age"]), "email": person.get("email", "")}
                    for number, person in self.users.truth.items()}
        found = {person["_id"]: person for person in self.connection.documents(DATABASE, "person")}
        different = [number for number in expected.keys() | found.keys() if expected.get(number) != found.get(number)]
        for number in different[:5]:
            self.complain(f"document {number} is {found.get(number)}, and should be {expected.get(number)}")
        print(f"documents: {len(found)}, {len(different)} of them not as they should be", flush=True)
        # The users change some documents again, so that the ledgers have entries.
        for _ in range(30):
            self.users.act()
        for watch, state in ((self.watch, STATE), (self.other, OTHER_STATE)):
            watch.terminate()
            self.runs["watch", watch.wait()] += 1
            if watch.returncode not in (0, 75):
                self.complain(f"a watch ended with {watch.returncode}: {self.said(state)}")
            self.finish(["ledger", "follow", f"{FOLDER}/person.json", "--collection", "soak.person", "--once", "--quiet"], state)
        failures = f"{FOLDER}/failures.jsonl"
        self.check("--failures", failures)
        with open(failures, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        failing = {line["_id"] for line in lines if line.get("verdict") == "certain"}
        for state in (STATE, OTHER_STATE):
            ledger = {entry["documentId"] for entry in self.connection.documents(state, "unsynced_documents")}
            if ledger != failing:
                self.complain(f"the ledger of {state} differs from a check in {sorted(ledger ^ failing)[:10]}")
        print(f"ledgers: 2, a check finds {len(failing)} documents that do not fit", flush=True)

    def tell(self):
        print(f"\n{self.jobs} jobs, {self.elections} elections, {self.users.writes} writes of users "
              f"({self.users.repeated} sent again), killed: {dict(self.killed)}")
        for (command, code), count in sorted(self.runs.items()):
            print(f"  {command:10} ended with {code:4}: {count}")
        quarter = max(1, len(self.rows) // 4)
        print(f"\n{'':20}{'first quarter':>15}{'last quarter':>15}")
        for name in self.rows[0] if self.rows else ():
            first, last = (statistics.median(row[name] for row in rows) for rows in (self.rows[:quarter], self.rows[-quarter:]))
            grew = "  grew" if last > first * 1.1 + 1 else ""
            print(f"{name:20}{first:15.1f}{last:15.1f}{grew}")
        print("\n" + (f"{len(self.wrong)} things are wrong" if self.wrong else "nothing is wrong"), flush=True)


def resident(process):
    with open(f"/proc/{process}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def processor(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


def open_files(process):
    return len(os.listdir(f"/proc/{process}/fd"))


sys.exit(Soak().run())
