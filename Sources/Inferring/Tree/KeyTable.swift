import BSON
import Checking

/// The names of an object's fields, each with its node in the tree, in the order in which they were found.
///
/// Searching and adding names creates no String.
struct KeyTable: Sendable {
    private(set) var keys: [FieldKey] = []
    /// The tree node of each name; the node of a name is at the name's position in ``keys``.
    private(set) var nodes: [Int] = []
    private var bytes: [UInt8] = []
    /// The hash table, which is used from the ninth name on; a slot holds a name's position, or -1.
    ///
    /// The size is a power of two.
    private var slots: [Int32] = []

    var count: Int { keys.count }

    /// Returns the position of a name in the table; `nil` if the table does not have it.
    /// - Parameters:
    ///   - names: the bytes that contain the key's name.
    ///   - expected: the position that is tried first, because most documents have their fields in the same order.
    func position(of key: FieldKey, in names: RawSpan, expected: Int) -> Int? {
        let mine = unsafe bytes.span.bytes
        if expected < keys.count, key.matches(keys[expected], in: names, names: mine) { return expected }
        guard !slots.isEmpty else {
            return keys.indices.first { key.matches(keys[$0], in: names, names: mine) }
        }
        var slot = key.hash(in: names) & (slots.count - 1)
        while slots[slot] >= 0 {
            let position = Int(slots[slot])
            if key.matches(keys[position], in: names, names: mine) { return position }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Adds a name that the table does not have yet.
    mutating func append(_ key: FieldKey, in names: RawSpan, node: Int) {
        let (start, length) = (Int(key.start), Int(key.length))
        var own = key
        own.start = Int32(bytes.count)
        bytes.append(contentsOf: names.extracting(start..<start + length).copied())
        keys.append(own)
        nodes.append(node)
        if keys.count > 8 { index() }
    }

    /// The bytes that contain the names of all keys.
    var names: RawSpan {
        @_lifetime(borrow self)
        get { unsafe bytes.span.bytes }
    }

    func name(_ position: Int) -> ArraySlice<UInt8> {
        let start = Int(keys[position].start)
        return bytes[start..<start + Int(keys[position].length)]
    }

    /// Adds `offset` to all node numbers, because the nodes move to the end of another tree.
    mutating func moveNodes(by offset: Int) {
        for position in nodes.indices { nodes[position] += offset }
    }

    private mutating func index() {
        if slots.count >= keys.count * 2 { return insert(keys.count - 1) }
        slots = Array(repeating: -1, count: max(32, slots.count * 2))
        for position in keys.indices { insert(position) }
    }

    private mutating func insert(_ position: Int) {
        var slot = unsafe keys[position].hash(in: bytes.span.bytes) & (slots.count - 1)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = Int32(position)
    }
}
