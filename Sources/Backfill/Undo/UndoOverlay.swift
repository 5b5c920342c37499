import BSON

/// What a dry run would have restored already, where an older entry of the journal may be of the same document.
///
/// Within an attempt no document stands twice. An older attempt at the same chunk holds the same documents again, and an
/// earlier walk those that it changed; that of a walk is kept only where the two touch the same fields.
struct UndoOverlay {
    private var fields: [BSONValue: [String: BSONValue?]] = [:]
    private var chunk: (pass: Int, after: BSONValue?)?
    private let lasting: Set<Int>

    init(_ passes: [StateStore.JournaledPass]) {
        lasting = Set(
            passes.filter { pass in
                passes.contains { $0.pass < pass.pass && !$0.touched.isDisjoint(with: pass.touched) }
            }.map(\.pass))
    }

    /// Goes on to a document of the journal, and forgets what no older one can ask for.
    mutating func enter(_ part: JournalPart) {
        let isSame = chunk.map { $0.pass == part.pass && $0.after == part.chunk.after } ?? false
        if !isSame, lasting.isEmpty { fields = [:] }
        chunk = (part.pass, part.chunk.after)
    }

    mutating func restore(_ document: Restoring) throws(BSONError) {
        var changed = fields[document.id] ?? [:]
        for name in document.group.names { changed[name] = .some(document.group.before[name]) }
        fields[document.id] = changed
    }

    /// The document as it would be.
    func document(_ id: BSONValue, _ document: BSONDocument) throws(BSONError) -> BSONDocument {
        guard let changed = fields[id] else { return document }
        var result = document
        for (name, value) in changed {
            result = if let value { try result.replacing(name, with: value) } else { try result.removing(name) }
        }
        return result
    }
}
