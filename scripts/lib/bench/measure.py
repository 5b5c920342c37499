"""Runs commands in turn, and computes ratios of their times."""

import math
import os
import re
import subprocess
import time


class Failed(Exception):
    """A command did not do its work."""


class Command:
    """A program to run, and what it must print for the run to count."""

    def __init__(self, arguments, expect="", statuses=(0,), before=None, environment=None):
        self.arguments = [str(argument) for argument in arguments]
        self.expect = expect
        self.statuses = statuses
        #: Called first, outside the measured time.
        self.before = before
        self.environment = environment

    def run(self):
        """Runs it once; returns the wall seconds and the output."""
        if self.before:
            self.before()
        environment = dict(os.environ, **self.environment) if self.environment else None
        start = time.perf_counter()
        done = subprocess.run(self.arguments, capture_output=True, text=True, env=environment)
        seconds = time.perf_counter() - start
        if done.returncode not in self.statuses or not re.search(self.expect, done.stdout):
            raise Failed(
                f"{' '.join(self.arguments)}\nended with {done.returncode}, and printed:\n"
                f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return seconds, done.stdout + done.stderr


class Summary:
    """The median of some numbers, and the interval that holds the true median in at least 95 of 100 cases.

    The interval's ends are numbers of the same distance from either end of the sorted list; the binomial distribution
    says from which. Fewer than six numbers never suffice for 95 of 100: then it is all of them.
    """

    def __init__(self, numbers):
        ordered = sorted(numbers)
        count = len(ordered)
        middle = count // 2
        self.median = ordered[middle] if count % 2 else (ordered[middle - 1] + ordered[middle]) / 2
        below, rank = 0, 0
        while rank < count // 2:
            below += math.comb(count, rank)
            if 2 * below / 2**count > 0.05:
                break
            rank += 1
        rank = max(rank - 1, 0)
        self.low, self.high = ordered[rank], ordered[count - 1 - rank]

    def __str__(self):
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def alternate(commands, rounds, progress, warm=True):
    """Runs each of the named commands once a round, and returns their seconds by name.

    Each round begins one command later than the one before, so that none always runs after the same one.
    """
    if warm:
        progress("warms up")
        for command in dict.fromkeys(commands.values()):
            command.run()
    names = list(commands)
    seconds = {name: [] for name in names}
    for round_number in range(rounds):
        shift = round_number % len(names)
        for name in names[shift:] + names[:shift]:
            seconds[name].append(commands[name].run()[0])
        progress(f"round {round_number + 1} of {rounds}: "
                 + ", ".join(f"{name} {seconds[name][-1]:.2f} s" for name in names))
    return seconds


def ratios(some, others):
    """The ratio of two measured series, round by round."""
    return Summary([one / other for one, other in zip(some, others)])


def noise(reference, again=None):
    """The ratio of the reference to itself: to its second run in each round, else to its run of the round before."""
    if again is None:
        again, reference = reference[:-1], reference[1:]
    return ratios(reference, again) if reference else None


def verdict(summary, limit):
    """Whether a ratio, or another figure that has to be small, meets its limit."""
    if limit is None:
        return ""
    if summary.median <= limit:
        return "met"
    return "within noise" if summary.low <= limit else "missed"
