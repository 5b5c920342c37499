package import BSON

/// A place in the journal, as undo walks it: newest first.
package struct JournalPosition: Hashable {
    /// The attempt.
    package var sequence: Int64
    /// The document of the attempt's journal.
    package var part: Int
    /// Entries of that document that lie behind.
    package var entries: Int

    var document: BSONDocument {
        ["seq": .long(sequence), "part": .integer(part), "entries": .integer(entries)]
    }

    package init(sequence: Int64, part: Int, entries: Int) {
        self.sequence = sequence
        self.part = part
        self.entries = entries
    }

    package init?(_ document: BSONDocument) {
        guard let sequence = document["seq"]?.integer, let part = document["part"]?.integer,
            let entries = document["entries"]?.integer
        else { return nil }
        self.init(sequence: Int64(sequence), part: part, entries: entries)
    }
}
