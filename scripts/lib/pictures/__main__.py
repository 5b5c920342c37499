"""Records commands as an SVG, or makes the PNGs of a page small. `scripts/pictures` calls it."""

import sys
from pathlib import Path

from drawing import draw
from image import with_palette
from terminal import record


def recorded(folder, title, lines):
    """Returns the SVG of commands, each with the exit code before it, as in `1 shipshape check`."""
    commands = []
    for line in lines:
        expected, command = line.split(" ", 1)
        screen, code = record(command, folder)
        if code != int(expected):
            text = "\n".join("".join(character for character, _ in shown.cells) for shown in screen)
            sys.exit(f"scripts/pictures: {command}: exit code {code} where {expected} was expected\n{text}")
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
