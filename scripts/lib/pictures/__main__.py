"""Records commands as an SVG, or makes the PNGs of a page small. `scripts/pictures` calls it."""

import sys
from pathlib import Path

from drawing import draw
from image import with_palette
from terminal import Line, record


def recorded(folder, title, lines):
    """Returns the SVG of commands.

    Before each command is its exit code, and how many lines of its output to show, as in `1:20 shipshape check`.
    """
    commands = []
    for line in lines:
        numbers, command = line.split(" ", 1)
        expected, shown = numbers.split(":")
        screen, code = record(command, folder)
        if code != int(expected):
            text = "\n".join("".join(character for character, _ in line.cells) for line in screen)
            sys.exit(f"scripts/pictures: {command}: exit code {code} where {expected} was expected\n{text}")
        if len(screen) > int(shown):
            screen = screen[: int(shown)] + [Line([("…", "2")], screen[-1].written_at)]
        commands.append((command, screen))
    return draw(commands, title)


def main(arguments):
    if arguments[0] == "record":
        folder, output, title = arguments[1:4]
        Path(output).write_text(recorded(folder, title, arguments[4:]))
    else:
        for name in arguments[1:]:
            Path(name).write_bytes(with_palette(Path(name).read_bytes()))


main(sys.argv[1:])
