package import BSON
import Checking

/// Counts the contents of documents for each path: types of values, objects that have a value there, elements and keys.
///
/// The memory is bounded, whatever the documents contain. Each thread has its own tree, and the trees are merged at the
/// end. As long as ``isCrowded`` is false, the result depends only on the documents, and neither on their order nor on
/// the thread that read them.
package struct PathTree: Sendable {
    /// The limits on the memory that a tree uses.
    package struct Limits: Hashable, Sendable {
        /// The largest number of different names in one object.
        ///
        /// An object with more names is folded: the values of all its fields are counted in one node.
        package var maximumKeys = 1_000
        /// The largest size of a name in bytes.
        ///
        /// An object with a longer name is folded: the values of all its fields are counted in one node.
        package var maximumNameLength = 1_024
        /// The largest number of paths that the tree may have once a document is counted.
        ///
        /// A tree with more paths folds objects: it combines the fields of objects with more than half of
        /// ``maximumKeys`` names, then of those with more than a quarter, and so on. The schema of a larger tree could
        /// have more fields than the reader of a schema accepts.
        package var maximumNodes = 20_000
        /// Whether the tree keeps distinct values, which a schema could list in an enum.
        package var keepsValues = false

        package init() {}
    }

    /// The number of documents counted so far.
    package private(set) var documents = 0
    /// Whether the tree had so many paths that it lowered the limit on names in an object below ``Limits/maximumKeys``.
    package var isCrowded: Bool { maximumKeys < limits.maximumKeys }

    package var pathCount: Int { nodes.count - free.count }

    let limits: Limits
    /// The nodes of the tree; the first one is the root, which counts the documents.
    var nodes: [PathNode] = [PathNode()]
    private var free: [Int] = []
    private var maximumKeys: Int
    private var objects = 0

    package init(limits: Limits = Limits()) {
        self.limits = limits
        maximumKeys = limits.maximumKeys
    }

    /// Counts the contents of a document.
    /// - Throws: ``BSONError`` when its bytes are damaged, or when it is nested too deeply.
    package mutating func add(_ document: borrowing BSONView) throws(BSONError) {
        documents += 1
        nodes[0].count(.object)
        nodes[0].height = max(nodes[0].height, try object(document, node: 0, depth: 0))
        thinOut()
    }

    /// Adds the counts of another thread's tree, which has the same limits.
    package mutating func merge(_ other: PathTree) {
        documents += other.documents
        let offset = nodes.count
        nodes += other.nodes.map { $0.moved(by: offset) }
        free += other.free.map { $0 + offset }
        objects += other.objects
        absorb(offset, into: 0)
        maximumKeys = min(maximumKeys, other.maximumKeys)
        refold(0)
        thinOut()
    }
}

// MARK: counting the contents of documents

extension PathTree {
    /// Adds the fields of an object to the counts of a node.
    /// - Returns: the number of nested levels of objects and arrays, including the object itself.
    private mutating func object(
        _ view: borrowing BSONView, node: Int, depth: Int
    ) throws(BSONError) -> Int {
        guard depth <= BSONView.maximumDepth else { throw BSONError(.tooDeep, at: view.start) }
        objects += 1
        let stamp = objects
        var height = 0
        var expected = 0
        var position = view.firstPosition
        while let element = try view.next(&position) {
            let child = child(element, of: view, in: node, expected: &expected)
            if nodes[child].stamp != stamp, child != nodes[node].values {
                nodes[child].stamp = stamp
                nodes[child].presence += 1
            }
            height = max(height, try value(element, of: view, node: child, depth: depth))
        }
        return height + 1
    }

    private mutating func value(
        _ element: BSONElement, of view: borrowing BSONView, node: Int, depth: Int
    ) throws(BSONError) -> Int {
        let kind = ValueKind(element, of: view)
        nodes[node].count(kind)
        switch kind {
        case .object, .array:
            let content = try view.document(element)
            let height =
                kind == .object
                ? try object(content, node: node, depth: depth + 1) : try array(content, node: node, depth: depth + 1)
            nodes[node].height = max(nodes[node].height, height)
            return height
        case .string:
            nodes[node].hints.add(view.stringBytes(element))
            if limits.keepsValues { nodes[node].distinct.add(element, of: view) }
        case .int, .long, .longBeyondDouble:
            if limits.keepsValues { nodes[node].distinct.add(element, of: view) }
        default: break
        }
        return 0
    }

    private mutating func array(_ view: borrowing BSONView, node: Int, depth: Int) throws(BSONError) -> Int {
        guard depth <= BSONView.maximumDepth else { throw BSONError(.tooDeep, at: view.start) }
        var (height, count) = (0, 0)
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if nodes[node].items < 0 { nodes[node].items = makeNode() }
            height = max(height, try value(element, of: view, node: nodes[node].items, depth: depth))
            count += 1
        }
        nodes[node].longestArray = max(nodes[node].longestArray, count)
        return height + 1
    }

    private mutating func child(
        _ element: BSONElement, of view: borrowing BSONView, in node: Int, expected: inout Int
    ) -> Int {
        let key = FieldKey(view.bytes, at: element.nameOffset, length: element.nameLength)
        if let known = nodes[node].keys.position(of: key, in: view.bytes, expected: expected) {
            expected = known + 1
            return nodes[node].keys.nodes[known]
        }
        if element.nameLength > limits.maximumNameLength { fold(node) }
        return newChild(key, in: view.bytes, of: node)
    }

    private mutating func newChild(_ key: FieldKey, in names: RawSpan, of node: Int) -> Int {
        makeRoom(in: node)
        let name = names.extracting(Int(key.start)..<Int(key.start) + Int(key.length))
        guard nodes[node].isFolded, !isKept(name, in: node) else {
            let child = makeNode()
            nodes[node].keys.append(key, in: names, node: child)
            return child
        }
        if name.isOddKey { nodes[node].oddKeys += 1 }
        return nodes[node].values
    }

    private mutating func makeNode() -> Int {
        if let reused = free.popLast() { return reused }
        nodes.append(PathNode())
        return nodes.count - 1
    }
}

// MARK: folding objects and merging trees

extension PathTree {
    /// Folds an object: combines all its fields into one node, like the values of a dictionary.
    ///
    /// In the root, which is the document itself, `_id` remains a field of its own.
    mutating func fold(_ node: Int) {
        guard !nodes[node].isFolded else { return }
        let keys = nodes[node].keys
        nodes[node].keys = KeyTable()
        let values = makeNode()
        nodes[node].values = values
        for position in 0..<keys.count { adopt(position, of: keys, in: node) }
    }

    /// Prepares an object for one more name: if the object already has the largest allowed number of names, combines
    /// its fields into one node.
    private mutating func makeRoom(in node: Int) {
        // A single document must not make the tree grow without a bound. If the tree has more than twice the allowed
        // number of paths, an object may therefore have at most eight names.
        let isFull = pathCount > limits.maximumNodes * 2
        if nodes[node].keys.count >= capacity(of: node, isFull ? min(8, maximumKeys) : maximumKeys) { fold(node) }
    }

    private func capacity(of node: Int, _ maximum: Int) -> Int { node == 0 ? maximum + 1 : maximum }

    private func isKept(_ name: RawSpan, in node: Int) -> Bool { node == 0 && name.isEqual(to: "_id") }

    /// Moves a field from a key table into an object.
    ///
    /// If the object already has a field of this name, or its fields are combined into one node, the counts of the
    /// moved field are added to the existing node.
    private mutating func adopt(_ position: Int, of keys: KeyTable, in node: Int) {
        let child = keys.nodes[position]
        let key = keys.keys[position]
        if let known = nodes[node].keys.position(of: key, in: keys.names, expected: position) {
            return absorb(child, into: nodes[node].keys.nodes[known])
        }
        makeRoom(in: node)
        let name = keys.names.extracting(Int(key.start)..<Int(key.start) + Int(key.length))
        guard nodes[node].isFolded, !isKept(name, in: node) else {
            return nodes[node].keys.append(key, in: keys.names, node: child)
        }
        if name.isOddKey { nodes[node].oddKeys += nodes[child].total }
        absorb(child, into: nodes[node].values)
        nodes[nodes[node].values].presence = 0
    }

    /// Adds the counts of the node `source`, and of all nodes below it, to another node, and removes `source`.
    private mutating func absorb(_ source: Int, into node: Int) {
        let other = nodes[source]
        nodes[source] = PathNode()
        free.append(source)
        nodes[node].addCounts(of: other)
        if other.items >= 0 {
            if nodes[node].items >= 0 {
                absorb(other.items, into: nodes[node].items)
            } else {
                nodes[node].items = other.items
            }
        }
        if other.isFolded {
            fold(node)
            absorb(other.values, into: nodes[node].values)
        }
        for position in 0..<other.keys.count { adopt(position, of: other.keys, in: node) }
    }

    /// Halves the number of names that an object may have, and combines the fields of each object with more names.
    ///
    /// Repeats this until the tree has at most ``Limits/maximumNodes`` paths, or the fields of all objects are
    /// combined.
    private mutating func thinOut() {
        while pathCount > limits.maximumNodes, maximumKeys > 0 {
            maximumKeys /= 2
            refold(0)
        }
    }

    private mutating func refold(_ node: Int) {
        if nodes[node].keys.count > capacity(of: node, maximumKeys) { fold(node) }
        for child in nodes[node].keys.nodes { refold(child) }
        if nodes[node].items >= 0 { refold(nodes[node].items) }
        if nodes[node].isFolded { refold(nodes[node].values) }
    }
}

extension PathNode {
    /// Returns the node with all node numbers in it increased by `offset`, because the nodes move to the end of another
    /// tree.
    fileprivate func moved(by offset: Int) -> PathNode {
        var node = self
        node.keys.moveNodes(by: offset)
        if node.items >= 0 { node.items += offset }
        if node.values >= 0 { node.values += offset }
        // `stamp` is the number that a tree gave to one of its objects, and means nothing in another tree.
        node.stamp = 0
        return node
    }
}

extension RawSpan {
    /// Whether an App Services dictionary must not have this key: `semantics.md` section 5.1, `dictionary-key`.
    fileprivate var isOddKey: Bool {
        guard !isEmpty else { return true }
        for index in 0..<byteCount {
            let byte = unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
            if byte == UInt8(ascii: ".") || index == 0 && byte == UInt8(ascii: "$") { return true }
        }
        return false
    }
}
