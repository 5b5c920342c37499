package import BSON
import ServerSchema

/// The types of the `_id`s of a collection, counted only to decide whether two `_id`s can have the same text.
extension TypeMask {
    @inline(__always)
    mutating func note(idOf document: borrowing BSONView) throws(BSONError) {
        let first = document.firstPosition
        // The server stores `_id` as the first field. In a document from another source, such as a dump, `_id` may be
        // elsewhere.
        if document.byteCount > 12, document.word(first &+ 1) & 0xFFFF_FFFF == 0x0064_695F {
            formUnion(TypeMask(BSONType(rawValue: document.byte(first))))
        } else if let element = try document.find("_id") {
            formUnion(TypeMask(element.type))
        }
    }

    /// Whether two `_id`s of these types can have the same text: those of different kinds, such as a string and a
    /// number; two objects; a double and a decimal.
    fileprivate var canHaveEqualTexts: Bool {
        let kinds: [TypeMask] = [[.string, .symbol], .numbers, .bool, .objectId, .binData, .date, .timestamp]
        return kinds.count { !isDisjoint(with: $0) } > 1 || contains(.object) || isSuperset(of: [.double, .decimal])
    }
}

extension Tally {
    /// Whether two documents that this tally counted can have `_id`s with the same text, such as 1 and "1".
    ///
    /// The types of the `_id`s decide. The value is `false` if the engine has no rule against `_id`s with equal texts.
    package var canHaveEqualTexts: Bool { idTypes.canHaveEqualTexts }

    /// Counts the finding that the `_id` of a document has the same text as the `_id` of another document.
    ///
    /// The tally must already have counted the document itself.
    /// - Throws: ``BSONError`` if the bytes are damaged; nothing is then counted.
    package mutating func countEqualText(_ document: borrowing BSONView, ledger: LedgerIndex?) throws(BSONError) {
        guard let engine = schema.engine, let rule = engine.facts[.idText], let element = try document.find("_id")
        else { return }
        let id = try document.value(element)
        let (verdict, before) = (try schema.check(document), try activeVerdict(document))
        collector.removeAll()
        try schema.collect(document, into: &collector)
        let isInLedger = verdict >= .possible && ledger?.contains(id, in: schema.namespace) ?? false
        var old = Contribution(verdict: verdict, active: before, isInLedger: isInLedger)
        for located in collector.located {
            let isExcepted = exceptions.exception(for: located, in: schema) != nil
            old.add(located.finding.level, schema.engineRule(of: located), isExcepted: isExcepted)
        }
        let located = FindingCollector.Located(
            finding: Finding(rule, .certain, node: engine.firstNode, Found(element.type, .equalText)),
            below: [.field("_id")])
        var new = old
        // One of the documents with a text arrives, so the first one adds no failing document to the counts.
        if let text = try schema.idText(of: document), !equalTexts.insert(text).inserted {
            // The check against the active schema uses the same engine's rules, so the document also fails under the
            // active schema.
            (new.verdict, new.active) = (.certain, before.map { _ in .certain })
            let isExcepted = exceptions.exception(for: located, in: schema) != nil
            new.add(.certain, schema.engineRule(of: located), isExcepted: isExcepted)
        }
        counts.replace(old, by: new)
        count(located, of: id)
        reportFailure(of: id, new, collector.violations(in: schema) + [schema.violation(located)])
    }
}

extension CompiledSchema {
    /// Returns the text of the document's `_id`, by which an engine that uses texts as keys identifies the document.
    ///
    /// Returns `nil` if the `_id` is missing or has no text, such as null, or if the engine stores no row for it.
    /// - Throws: ``BSONError`` if the bytes are damaged.
    package func idText(of document: borrowing BSONView) throws(BSONError) -> [UInt8]? {
        guard let element = try document.find("_id") else { return nil }
        if engine?.facts[.falsyID] != nil, document.isFalseInScript(element) { return nil }
        return try JSONText.text(of: element, in: document)
    }
}
