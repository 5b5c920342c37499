"""The part of MongoDB's wire protocol that a soak needs: a connection, and the BSON types of the soak's documents."""

import socket
import struct


def encode(document):
    parts = b"".join(_element(name, value) for name, value in document.items())
    return struct.pack("<i", len(parts) + 5) + parts + b"\0"


def _element(name, value):
    if isinstance(value, bool):
        kind, data = 8, struct.pack("<?", value)
    elif isinstance(value, int):
        kind, data = (16, struct.pack("<i", value)) if -1 << 31 <= value < 1 << 31 else (18, struct.pack("<q", value))
    elif isinstance(value, float):
        kind, data = 1, struct.pack("<d", value)
    elif isinstance(value, str):
        text = value.encode()
        kind, data = 2, struct.pack("<i", len(text) + 1) + text + b"\0"
    elif isinstance(value, dict):
        kind, data = 3, encode(value)
    elif isinstance(value, list):
        kind, data = 4, encode({str(place): item for place, item in enumerate(value)})
    elif value is None:
        kind, data = 10, b""
    else:
        raise TypeError(f"{name}: {type(value)}")
    return bytes([kind]) + name.encode() + b"\0" + data


_FIXED = {1: "<d", 8: "<?", 9: "<q", 16: "<i", 17: "<Q", 18: "<q"}


def decode(data, start=0):
    end = start + struct.unpack_from("<i", data, start)[0] - 1
    place, document = start + 4, {}
    while place < end:
        kind = data[place]
        stop = data.index(0, place)
        name, place = data[place + 1 : stop].decode(), stop + 1
        if kind in _FIXED:
            document[name] = struct.unpack_from(_FIXED[kind], data, place)[0]
            place += struct.calcsize(_FIXED[kind])
        elif kind == 2:
            size = struct.unpack_from("<i", data, place)[0]
            document[name] = data[place + 4 : place + 3 + size].decode()
            place += 4 + size
        elif kind in (3, 4):
            inner = decode(data, place)
            document[name] = inner if kind == 3 else list(inner.values())
            place += struct.unpack_from("<i", data, place)[0]
        elif kind in (5, 7, 10, 19):
            # The soak test needs no values of binary data, ObjectIds and decimals, so their bytes are not decoded. Type
            # 10 is null.
            size = {5: struct.unpack_from("<i", data, place)[0] + 5, 7: 12, 10: 0, 19: 16}[kind]
            document[name] = None if kind == 10 else data[place : place + size]
            place += size
        else:
            raise ValueError(f"{name}: type {kind}")
    return document


class Refused(Exception):
    """The server refused a command."""

    def __init__(self, reply):
        super().__init__(reply.get("errmsg", "refused"))
        self.code = reply.get("code", 0)


class Connection:
    """A connection to a server, which is opened again by the next command after it was lost."""

    def __init__(self, port):
        self.port, self.socket, self.request = port, None, 0

    def run(self, database, command):
        """Runs a command, and returns the server's reply.

        Raises Refused if the server refuses the command, and OSError if the connection is lost. After an OSError, the
        server may or may not have done the command.
        """
        try:
            if self.socket is None:
                self.socket = socket.create_connection(("127.0.0.1", self.port), 30)
            self.request += 1
            body = b"\0\0\0\0\0" + encode({**command, "$db": database})
            self.socket.sendall(struct.pack("<iiii", 16 + len(body), self.request, 0, 2013) + body)
            size = struct.unpack("<i", self._read(4))[0]
            reply = decode(self._read(size - 4), 17)
        except OSError:
            self.close()
            raise
        error = next(iter(reply.get("writeErrors", [])), None)
        if reply.get("ok") != 1 or error:
            raise Refused(error or reply)
        return reply

    def documents(self, database, collection, condition=None):
        reply = self.run(database, {"find": collection, "filter": condition or {}, "batchSize": 100_000})
        assert reply["cursor"]["id"] == 0, "more documents than a batch holds"
        return reply["cursor"]["firstBatch"]

    def _read(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise ConnectionError("the server closed the connection")
            data += part
        return data

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None
