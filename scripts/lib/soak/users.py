"""The users of a soak, who write during the jobs, and the values that they wrote last."""

import random
import time

from wire import Connection, Refused


class Users:
    """Users who write; `truth` maps each `_id` to the document as the users last wrote it."""

    def __init__(self, port, database, seed):
        self.connection, self.database, self.random = Connection(port), database, random.Random(seed)
        self.truth, self.next = {}, 0
        self.writes = self.repeated = 0

    def insert(self, count=1):
        people = [self.person() for _ in range(count)]
        self.write({"insert": "person", "documents": people})
        self.truth.update((person["_id"], person) for person in people)

    def person(self):
        self.next += 1
        person = {"_id": self.next, "name": f"n{self.next}", "age": self.age()}
        return person if self.random.random() < 0.7 else {**person, "email": self.email()}

    def age(self):
        age = self.random.randrange(100)
        return age if self.random.random() < 0.3 else str(age)

    def email(self):
        return f"{self.random.randrange(1 << 30)}@example.net"

    def act(self):
        """Makes one random write.

        On average, eight of ten writes change a field: `name`, which no job writes, or `age` or `email`, which all jobs
        write. One of ten inserts a document, and one deletes a document.
        """
        chosen = self.random.choice(list(self.truth))
        kind = self.random.random()
        if kind < 0.1:
            self.insert()
        elif kind < 0.2:
            self.write({"delete": "person", "deletes": [{"q": {"_id": chosen}, "limit": 1}]})
            del self.truth[chosen]
        else:
            name = "name" if kind < 0.6 else "age" if kind < 0.8 else "email"
            value = f"n{self.random.randrange(1 << 30)}" if name == "name" else getattr(self, name)()
            self.write({"update": "person", "updates": [{"q": {"_id": chosen}, "u": {"$set": {name: value}}}]})
            self.truth[chosen][name] = value

    def write(self, command):
        """Sends a write until the server has done it, because an election may interrupt the write.

        A repeated write changes nothing further.
        """
        self.writes += 1
        while True:
            try:
                return self.connection.run(self.database, {**command, "writeConcern": {"w": "majority"}})
            except OSError:
                pass
            except Refused as refusal:
                if refusal.code == 11000:
                    return None
            self.repeated += 1
            time.sleep(0.2)
