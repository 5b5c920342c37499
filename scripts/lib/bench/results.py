"""Keeps the results, row by row, and shows them as a table."""

import json
import os

LINES = "Benchmarks/results.jsonl"
PAGE = "Benchmarks/results.md"
REASONS = "Benchmarks/reasons.md"

COLUMNS = [("what", "what"), ("against", "against"), ("measured", "median"), ("reference", "against it"),
           ("result", "ratio (interval)"), ("noise", "noise"), ("target", "target"), ("verdict", "verdict")]


class Results:
    """The lines of the table by row; the lines of earlier runs stay until their row is measured again."""

    def __init__(self, order, is_kept):
        self.order = order
        self.is_kept = is_kept
        self.rows = {}
        if os.path.exists(LINES):
            with open(LINES, encoding="utf-8") as file:
                for text in file:
                    record = json.loads(text)
                    self.rows.setdefault(record["row"], []).append(record)

    def add(self, row, lines, stamp, machine):
        """Replaces a row, and writes the files at once, so that an interrupted run keeps the rows measured so far."""
        self.rows[row] = [{"row": row, **stamp, **line} for line in lines]
        for line in self.rows[row]:
            print(terminal(line), flush=True)
        if self.is_kept:
            replace(LINES, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self.lines()))
            replace(PAGE, self.page(machine))

    def lines(self):
        return [line for row in self.order for line in self.rows.get(row, [])]

    def page(self, machine):
        lines = self.lines()
        missing = [row for row in self.order if row not in self.rows]
        text = ["# Results", "",
                "Written by `scripts/bench`; [`CONTRIBUTING.md`](../CONTRIBUTING.md#measuring) says how to read it.",
                "The reasons for each missed target are [below](#reasons).", ""]
        text += [f"- {name}: {value}" for name, value in machine.items()] + [""]
        text += ["| " + " | ".join(title for _, title in COLUMNS) + " | rounds | measured at |",
                 "|" + " --- |" * (len(COLUMNS) + 2)]
        for line in lines:
            cells = [line[name] for name, _ in COLUMNS] + [str(line["rounds"]), f"{line['date']}, {line['revision']}"]
            text.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        if missing:
            text += ["", "Not measured yet: " + ", ".join(missing) + "."]
        text += ["", "## Reasons", ""]
        if os.path.exists(REASONS):
            with open(REASONS, encoding="utf-8") as file:
                text.append(file.read().rstrip())
        else:
            text.append("None are written yet.")
        return "\n".join(text) + "\n"


def terminal(line):
    """Returns a line of the table as text for a terminal."""
    head = line["what"].replace("`", "") + (f" / {line['against']}".replace("`", "") if line["against"] else "")
    figures = [line["measured"] + (f" / {line['reference']}" if line["reference"] else ""), line["result"]]
    figures += [f"noise {line['noise']}"] if line["noise"] else []
    figures += [f"target {line['target']}: {line['verdict'] or 'no verdict'}"] if line["target"] else []
    return head + "\n    " + " · ".join(figure for figure in figures if figure)


def replace(path, text):
    """Writes a file so that other programs see either the old text or the new one."""
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.new", path)
