"""Makes a PNG smaller: 256 colours are enough for a page of text."""

import struct
import zlib
from collections import Counter

_BYTES_PER_PIXEL = {2: 3, 6: 4}


def _chunks(data):
    position = 8
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position : position + 8])
        yield kind, data[position + 8 : position + 8 + length]
        position += length + 12


def _pixels(data):
    """Returns the width, the height and the colours of a PNG without interlacing, as the browser writes it."""
    chunks = list(_chunks(data))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
    if depth != 8 or kind not in _BYTES_PER_PIXEL or interlaced:
        raise ValueError("only PNGs with 8 bits for each colour and without a palette are read")
    size = _BYTES_PER_PIXEL[kind]
    raw = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    above, pixels = bytearray(width * size), []
    for row in range(height):
        start = row * (width * size + 1)
        line = bytearray(raw[start + 1 : start + 1 + width * size])
        _unfilter(raw[start], line, above, size)
        pixels += [bytes(line[index : index + 3]) for index in range(0, width * size, size)]
        above = line
    return width, height, pixels


def _unfilter(kind, line, above, size):
    for index in range(len(line)):
        left = line[index - size] if index >= size else 0
        corner = above[index - size] if index >= size else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[index]
        elif kind == 3:
            guess = (left + above[index]) // 2
        elif kind == 4:
            guess = min((left, above[index], corner), key=lambda value: abs(left + above[index] - corner - value))
        else:
            return
        line[index] = (line[index] + guess) & 255


def _palette(pixels):
    """Returns at most 256 colours, and the number of the nearest one for each colour."""
    counts = Counter(pixels)
    palette = [colour for colour, _ in counts.most_common(256)]
    numbers = {colour: number for number, colour in enumerate(palette)}

    def distance(colour, other):
        return sum((one - two) ** 2 for one, two in zip(colour, other))

    for colour in counts:
        if colour not in numbers:
            numbers[colour] = min(range(len(palette)), key=lambda number: distance(colour, palette[number]))
    return palette, numbers


def with_palette(data):
    """Returns the PNG with a palette in place of three bytes for each pixel."""
    width, height, pixels = _pixels(data)
    palette, numbers = _palette(pixels)
    rows = (b"\0" + bytes(numbers[pixel] for pixel in pixels[row * width : (row + 1) * width]) for row in range(height))
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", b"".join(palette)),
        (b"IDAT", zlib.compress(b"".join(rows), 9)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )
