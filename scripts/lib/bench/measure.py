"""Runs commands in turn, and computes ratios of their times."""

import math
import os
import re
import subprocess
import time


class Failed(Exception):
    """The error that a command did not do its work."""


class Command:
    """A program to run, and a regular expression for the output of a run that did its work."""

    def __init__(self, arguments, expect="", statuses=(0,), before=None, environment=None):
        self.arguments = [str(argument) for argument in arguments]
        self.expect = expect
        self.statuses = statuses
        #: A function to call before each run, outside the measured time.
        self.before = before
        self.environment = environment

    def run(self):
        """Runs the program once; returns the wall time in seconds, and the output with the errors."""
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

    The ends of the interval are equally far from the two ends of the sorted list, as far as the binomial distribution
    allows. Fewer than six numbers never suffice for 95 of 100 cases; the interval then contains all of them.
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
    """Runs each of the named commands once in each round, and returns their wall times in seconds by name.

    Each round begins one command later than the previous round, so that each command is sometimes the first.
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
    """Returns the summary of the ratios of two measured series, round by round."""
    return Summary([one / other for one, other in zip(some, others)])


def noise(reference, again=None):
    """Returns the summary of the ratios between runs of the reference; None if there are too few runs.

    The two runs of a ratio are of the same round if `again` has second runs, and otherwise of consecutive rounds.
    """
    if again is None:
        again, reference = reference[:-1], reference[1:]
    return ratios(reference, again) if reference else None


def verdict(summary, limit):
    """Returns whether a ratio, or another figure that has to be small, meets its limit; empty without a limit."""
    if limit is None:
        return ""
    if summary.median <= limit:
        return "met"
    return "within noise" if summary.low <= limit else "missed"
