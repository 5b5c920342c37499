internal import BSON
internal import Checking
package import ServerSchema

extension ServerSchema {
    /// Brings a Prisma schema and a validator into one dialect, so that they can be compared; leaves all others alone.
    ///
    /// The Prisma schema stands for the documents that its client writes, if it is the older one, and for those that it
    /// reads, if it is the newer one.
    /// - Returns: Notes for the user: the meaning of the Prisma schema, and ``examples(beside:_:_:)``.
    package mutating func bridge(to new: inout ServerSchema, _ own: String, _ others: String) -> [String] {
        if dialect == .prisma, new.dialect == .jsonSchema {
            if new.isContract { new = new.described }
            self = written(isClosed: false)
            let examples = new.isContract ? [] : examples(beside: new, own, others)
            return ["\(own) stands for the documents that its client writes"] + examples
        }
        guard dialect == .jsonSchema, new.dialect == .prisma else { return [] }
        new = new.readable
        return ["\(others) stands for the documents that its client reads"] + examples(beside: new, own, others)
    }

    /// Returns notes with a document of each kind that one of two schemas accepts and the other does not, for the
    /// collections that both have.
    ///
    /// The documents are made from the two schemas: a document that fits one of them, with one value changed. A search
    /// that finds none proves nothing, and has no note.
    /// - Parameters:
    ///   - own: the name of this schema, as the operator wrote it.
    ///   - others: the name of the other one.
    private func examples(beside other: ServerSchema, _ own: String, _ others: String) -> [String] {
        var notes: [String] = []
        for collection in collections {
            guard let second = other[collection.namespace], notes.count < 20 else { continue }
            let (one, two) = (CompiledSchema(collection, of: self), CompiledSchema(second, of: other))
            let pairs = [(one, two, own, others), (two, one, others, own)]
            for (accepting, refusing, name, otherName) in pairs {
                let root = name == own ? collection.root : second.root
                let beside = name == own ? second.root : collection.root
                let found = root.firstExample(beside: beside) { accepting.accepts($0) && !refusing.accepts($0) }
                guard let text = found.flatMap({ try? $0.extendedJSON(.canonical) }) else { continue }
                notes.append("\(collection.namespace): \(name) accepts \(text), and \(otherName) does not")
            }
        }
        return notes
    }
}

extension CompiledSchema {
    fileprivate func accepts(_ document: BSONDocument) -> Bool { (try? check(document.view)) ?? .certain <= .warning }
}

extension SchemaNode {
    /// A value of each type, and the values at which types and clients differ; `nil` stands for a missing field.
    private static let values: [BSONValue?] = [
        nil, .null, "a", "", "a@b.c", "0", "2026-01-31", 1, -1, 1.5, .long(1 << 40), .double(.nan), true, [], ["a"],
        [1], [:],
        .date(milliseconds: 0), .objectID(ObjectID(high: 0, low: 0)), .binary(subtype: 0, bytes: []),
        .decimal(Decimal128(1)), .timestamp(1),
    ]

    /// Returns the first document that fulfils a condition, among one that is made from the schema and those that
    /// differ from it in one value, at a path of this schema or of the other one.
    fileprivate func firstExample(beside other: SchemaNode, where fits: (BSONDocument) -> Bool) -> BSONDocument? {
        let base = sampleObject(depth: 0)
        if fits(base) { return base }
        var open: [(node: SchemaNode, path: [String])] = [(other, []), (self, [])]
        var left = 4_000
        while let (node, path) = open.popLast(), left > 0 {
            for property in node.properties where property.name != "_id" || !path.isEmpty {
                left -= 1
                let place = path + [property.name]
                if place.count < 4 { open.append((property.node, place)) }
                let allowed = (property.node.constraints.allowedValues ?? []).prefix(3).map(Optional.some)
                for value in Self.values + allowed {
                    if let changed = base.setting(value, at: place[...]), fits(changed) { return changed }
                }
            }
        }
        return nil
    }
}

extension BSONDocument {
    /// Returns the document with a value at a path of fields, or without the field; `nil` if a field in the path holds
    /// no object.
    fileprivate func setting(_ value: BSONValue?, at path: ArraySlice<String>) -> BSONDocument? {
        guard let name = path.first else { return nil }
        guard path.count > 1 else {
            return value.map { try? replacing(name, with: $0) } ?? (try? removing(name))
        }
        guard let inner = (self[name] ?? [:]).document?.setting(value, at: path.dropFirst()) else { return nil }
        return try? replacing(name, with: .object(inner))
    }
}

extension SchemaNode {
    /// Returns an object with a value for each required field.
    fileprivate func sampleObject(depth: Int) -> BSONDocument {
        guard depth < 20 else { return [:] }
        let names = required.contains("_id") || depth > 0 ? required : ["_id"] + required
        return BSONDocument(names.map { ($0, property($0)?.sample(depth: depth + 1) ?? 1) })
    }

    /// Whether a value fits the schema, as that of a field.
    private func takes(_ value: BSONValue) -> Bool {
        var root = SchemaNode(location: location)
        (root.types, root.hasProperties, root.properties) = ([.object], true, [Property(name: "x", node: self)])
        let none = Namespace(database: "none", collection: "none")
        let collection = CollectionSchema(namespace: none, root: root, dialect: .jsonSchema)
        return CompiledSchema(collection).accepts(["x": value])
    }

    private func sample(depth: Int) -> BSONValue {
        if let value = constraints.allowedValues?.first { return value }
        let plain = plainSample(depth: depth)
        if depth > 3 || takes(plain) { return plain }
        return Self.values.lazy.compactMap(\.self).first(where: takes) ?? plain
    }

    private func plainSample(depth: Int) -> BSONValue {
        switch types.first {
        case .object?: .object(sampleObject(depth: depth))
        case .string?: "a"
        case .int?: 1
        case .long?: .long(1)
        case .double?: 1.5
        case .decimal?: .decimal(Decimal128(1))
        case .bool?: true
        case .date?: .date(milliseconds: 0)
        case .objectId?: .objectID(ObjectID(high: 0, low: 0))
        case .binData?: .binary(subtype: 0, bytes: [])
        case .array?: []
        case .null?: .null
        case .timestamp?: .timestamp(1)
        default: 1
        }
    }
}
