"""The throw-away mongod that all rows share, and its data."""

import os
import re
import subprocess
import time

from measure import Failed


class Server:
    """A mongod on a port that the system chooses; `stop` ends it."""

    def __init__(self, mongod, folder, cache_gigabytes):
        self.data = os.path.join(folder, "data")
        os.mkdir(self.data)
        self.log = os.path.join(folder, "mongod.log")
        # The server has a session of its own, so that Ctrl-C reaches only the bench, which then ends the server.
        self.process = subprocess.Popen(
            [mongod, "--dbpath", self.data, "--port", "0", "--bind_ip", "127.0.0.1", "--replSet", "bench",
             "--wiredTigerCacheSizeGB", str(cache_gigabytes), "--oplogSize", "2048", "--nounixsocket",
             "--logpath", self.log],
            stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            self.port = self._port()
        except BaseException:
            self.stop()
            raise
        self.uri = f"mongodb://127.0.0.1:{self.port}/?replicaSet=bench"

    def _port(self):
        for _ in range(300):
            if os.path.exists(self.log):
                with open(self.log, encoding="utf-8") as file:
                    found = re.search(r'"Waiting for connections".*"port":(\d+)', file.read())
                if found:
                    return int(found[1])
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise Failed("mongod did not start")

    def stop(self):
        """Ends the mongod, and waits until its process has ended."""
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Data:
    """The four sets of documents that the rows measure, each made when a row first needs it."""

    def __init__(self, loader, server, folder, scale, settle):
        self.loader = loader
        #: A function to call after the server has received documents, so that writing them to disk slows down no run.
        self.settle = settle
        self.server = server
        self.folder = folder
        self.counts = {"A": 1_000_000, "B": 200_000, "C": 1_000_000, "D": 10_000_000}
        self.scale = scale
        self.counts = {name: self.scaled(count) for name, count in self.counts.items()}
        self.made = set()

    def scaled(self, count):
        """Returns a number of documents multiplied by the scale, but at least 1,000."""
        return max(1_000, int(count * self.scale))

    @property
    def file(self):
        """The path of the .bson file with the documents of A."""
        return os.path.join(self.folder, "A.bson")

    def ensure(self, name, progress):
        """Makes the set A, B, C or D in the server, or the file of A, unless this run has made it already."""
        if name in self.made:
            return
        count = self.counts["A" if name == "file" else name]
        progress(f"makes {count:,} documents ({name})")
        kinds = {
            "A": ["flat", "--collection", "Order"], "B": ["nested"], "C": ["flat", "--collection", "Flawed", "--flawed"],
            "D": ["flat", "--collection", "Tenfold"], "file": ["flat"],
        }
        place = ["--file", self.file] if name == "file" else ["--uri", self.server.uri]
        subprocess.run([self.loader, *kinds[name], *place, "--count", str(count)], check=True, stdout=subprocess.DEVNULL)
        if name != "file":
            self.settle()
        self.made.add(name)
