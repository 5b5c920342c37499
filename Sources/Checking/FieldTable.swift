import BSON

/// The location of one object's field names in a ``FieldTable``.
struct FieldRange: Sendable, BitwiseCopyable {
    var first: Int32 = 0
    var count: Int32 = 0
    /// The first slot of the hash table of the object's field names; the size of the table is a power of two.
    ///
    /// Only an object with more than eight names has a hash table; otherwise ``slotMask`` is -1.
    var firstSlot: Int32 = 0
    var slotMask: Int32 = -1
}

/// The field names of all objects that a schema describes, stored so that a search creates no String.
struct FieldTable: Sendable {
    private(set) var keys: [FieldKey] = []
    /// The names of ``keys``, in a form in which the walker can test whether a document has a name at a given offset.
    private(set) var matchers: [NameMatcher] = []
    /// The hash tables of large objects; each slot holds an index into the object's fields, or -1 if it is free.
    private(set) var slots: [Int32] = []
    private(set) var nameBytes: [UInt8] = []

    /// Adds the field names of one object next to each other, and returns their location.
    mutating func append(_ names: [String]) -> FieldRange {
        var range = FieldRange(first: Int32(keys.count), count: Int32(names.count))
        for name in names {
            keys.append(key(name))
            matchers.append(NameMatcher(name, keys[keys.count - 1]))
        }
        appendSlots(of: &range)
        return range
    }

    /// Adds the bytes of a name to the table, and returns its key.
    ///
    /// The name does not become a field of any object, so a search does not find it. Its key can only be compared with
    /// other keys.
    mutating func key(_ name: String) -> FieldKey {
        let start = nameBytes.count
        nameBytes.append(contentsOf: name.utf8)
        return unsafe FieldKey(nameBytes.span.bytes, at: start, length: name.utf8.count)
    }

    /// Builds a hash table if an object has more than eight names, so that fields in an unexpected order are found
    /// quickly.
    private mutating func appendSlots(of range: inout FieldRange) {
        guard range.count > 8 else { return }
        var size = 32
        while size < Int(range.count) * 2 { size *= 2 }
        range.firstSlot = Int32(slots.count)
        range.slotMask = Int32(size - 1)
        slots.append(contentsOf: repeatElement(-1, count: size))
        for offset in 0..<Int(range.count) {
            var slot = unsafe keys[Int(range.first) + offset].hash(in: nameBytes.span.bytes) & (size - 1)
            while slots[Int(range.firstSlot) + slot] >= 0 { slot = (slot + 1) & (size - 1) }
            slots[Int(range.firstSlot) + slot] = Int32(offset)
        }
    }

    func name(_ field: Int) -> String { name(keys[field]) }

    func name(_ key: FieldKey) -> String {
        String(decoding: nameBytes[Int(key.start)..<Int(key.start) + Int(key.length)], as: UTF8.self)
    }
}

/// Finds a document's fields in a ``FieldTable``, which it borrows.
struct FieldLookup: ~Escapable {
    let keys: Span<FieldKey>
    let matchers: Span<NameMatcher>
    let slots: Span<Int32>
    let names: RawSpan

    @_lifetime(borrow table)
    @inline(__always)
    init(_ table: borrowing FieldTable) {
        keys = table.keys.span
        matchers = table.matchers.span
        slots = table.slots.span
        names = unsafe table.nameBytes.span.bytes
    }

    /// Returns the element at `position` and moves `position` after it; `nil` at the document's end.
    ///
    /// The fields of most documents are in the schema's order. The name of the field at the index `expected` is
    /// therefore compared first, before the end of the element's name is known.
    /// - Parameters:
    ///   - types: The types that matter to the caller. If an element does not have the expected name, its name is
    ///     searched only if its value has one of these types.
    ///   - found: Set to the index of the element's field among the object's fields; -1 for a name that is unknown, or
    ///     is not searched.
    @inline(__always)
    func next(
        _ position: inout Int, in view: borrowing BSONView, among range: FieldRange, expected: Int,
        searching types: TypeMask = .all, found: inout Int
    ) throws(BSONError) -> BSONElement? {
        let nameOffset = position &+ 1
        if expected < Int(range.count) {
            let matcher = unsafe matchers[unchecked: Int(range.first) &+ expected]
            if matcher.matches(at: nameOffset, in: view, names: names) {
                let type = BSONType(rawValue: view.byte(position))
                // A type byte of 0 ends the document; the bytes after it may look like the expected name by chance.
                if type.rawValue != 0 {
                    found = expected
                    return try view.element(
                        of: type, nameOffset: nameOffset, nameEnd: nameOffset &+ Int(matcher.length), &position)
                }
            }
        }
        guard let element = try view.step(&position) else { return nil }
        guard types == .all || types.contains(TypeMask(element.type)) else {
            found = -1
            return element
        }
        let key = FieldKey(view.bytes, at: element.nameOffset, length: element.nameLength)
        found = search(key, in: view.bytes, among: range)
        return element
    }

    /// Returns the index of an element's field among the object's fields; -1 if the schema does not name the field.
    ///
    /// The fields of most documents are in the schema's order, so the field at the index `expected` is compared first.
    @inline(__always)
    func position(
        of element: BSONElement, in view: borrowing BSONView, among range: FieldRange, expected: Int
    ) -> Int {
        let key = FieldKey(view.bytes, at: element.nameOffset, length: element.nameLength)
        if expected < Int(range.count),
            key.matches(keys[Int(range.first) &+ expected], in: view.bytes, names: names)
        {
            return expected
        }
        return search(key, in: view.bytes, among: range)
    }

    @inline(never)
    func search(_ key: FieldKey, in bytes: RawSpan, among range: FieldRange) -> Int {
        let first = Int(range.first)
        guard range.slotMask >= 0 else {
            for offset in 0..<Int(range.count) where key.matches(keys[first &+ offset], in: bytes, names: names) {
                return offset
            }
            return -1
        }
        var slot = key.hash(in: bytes) & Int(range.slotMask)
        while true {
            let offset = Int(slots[Int(range.firstSlot) &+ slot])
            if offset < 0 || key.matches(keys[first &+ offset], in: bytes, names: names) { return offset }
            slot = (slot &+ 1) & Int(range.slotMask)
        }
    }
}
