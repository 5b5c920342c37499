"""Runs commands in a terminal of 80 columns, and keeps what its screen shows."""

import os
import pty
import re
import time
from dataclasses import dataclass, field

COLUMNS = 80

# The control sequences that the program and the shell write: colours, the end of a line erased, the cursor moved.
_SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)")


@dataclass
class Line:
    """A line of the screen: a colour for each character, and when it was last written, in seconds."""

    cells: list[tuple[str, str]] = field(default_factory=list)
    written_at: float = 0


class Screen:
    """A screen with as many lines as are written, from which nothing scrolls away."""

    def __init__(self):
        self.lines = [Line()]
        self.row = self.column = 0
        self.style = ""

    def write(self, text, now):
        """Writes the output of a program at the cursor."""
        position = 0
        while position < len(text):
            sequence = _SEQUENCE.match(text, position)
            if sequence:
                self._control(sequence[1] or "", sequence[2])
                position = sequence.end()
            else:
                self._character(text[position], now)
                position += 1

    def _character(self, character, now):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
            if self.row == len(self.lines):
                self.lines.append(Line(written_at=now))
        elif character >= " ":
            line = self.lines[self.row]
            line.cells += [(" ", "")] * (self.column + 1 - len(line.cells))
            line.cells[self.column] = (character, self.style)
            line.written_at = now
            self.column += 1

    def _control(self, numbers, kind):
        if kind == "m":
            self.style = "" if numbers in ("", "0") else numbers
        elif kind == "K":
            del self.lines[self.row].cells[self.column :]
        elif kind == "A":
            self.row = max(0, self.row - int(numbers or 1))


def record(command, folder):
    """Runs a command of the shell in a terminal, and returns the lines of its screen and its exit code."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ["TERM"] = "xterm-256color"
        os.execvp("sh", ["sh", "-c", f"stty cols {COLUMNS} rows 50; {command}"])
    screen = Screen()
    started = time.monotonic()
    decoded = b""
    while True:
        try:
            chunk = os.read(terminal, 1 << 16)
        except OSError:  # The terminal is closed once the command has ended.
            break
        if not chunk:
            break
        # A character of several bytes may be in two reads.
        decoded += chunk
        text = decoded.decode("utf-8", "ignore")
        decoded = b"" if text.encode() == decoded else decoded[len(text.encode()) :]
        screen.write(text, time.monotonic() - started)
    _, status = os.waitpid(child, 0)
    lines = screen.lines
    while lines and not "".join(character for character, _ in lines[-1].cells).strip():
        lines.pop()
    return lines, os.waitstatus_to_exitcode(status)
