package import BSON

/// A schema with documents to be judged by it.
package struct CaseGroup: Sendable {
    /// The schema, as the value of `$jsonSchema`.
    package let schema: BSONDocument
    /// The documents; each `_id` is a different number.
    package let documents: [BSONDocument]

    /// Makes a group of a schema and its documents.
    package init(schema: BSONDocument, documents: [BSONDocument]) {
        self.schema = schema
        self.documents = documents
    }
}

extension BSONDocument {
    /// The `_id` as a double if it is an int, a long or a double; otherwise NaN.
    package var number: Double {
        switch self["_id"] {
        case .int(let value)?: Double(value)
        case .long(let value)?: Double(value)
        case .double(let value)?: value
        default: .nan
        }
    }

    var fields: [(String, BSONValue)] { ((try? elements()) ?? []).map { ($0.name, $0.value) } }

    /// Whether no name occurs twice in an object, at any depth.
    package var hasDistinctNames: Bool {
        let elements = (try? elements()) ?? []
        return Set(elements.map { Array($0.name.utf8) }).count == elements.count
            && elements.allSatisfy { $0.value.document?.hasDistinctNames ?? true }
    }
}

/// A generator of random cases, which its seed determines.
package struct CaseGenerator: Sendable {
    private var random: Randomness
    private var lastID: Int32 = 0
    private let documentCount: Int

    /// Creates a generator.
    /// - Parameter documentCount: the number of documents for each schema.
    package init(seed: UInt64, documentCount: Int = 20) {
        random = Randomness(seed: seed)
        self.documentCount = documentCount
    }

    /// Returns the next schema with its documents, or with a single document if mongod probably refuses the schema.
    package mutating func next() -> CaseGroup {
        var schemas = SchemaGenerator(random: Randomness(seed: random.next()))
        let isBroken = random.percent(15)
        if isBroken { schemas.defectChance = 40 }
        let schema = schemas.schema(depth: 1 + random.below(4), isRoot: random.percent(90))
        var instances = InstanceGenerator(random: Randomness(seed: random.next()))
        var documents: [BSONDocument] = []
        for _ in 0..<(isBroken ? 1 : documentCount) {
            lastID += 1
            let id = random.pick([BSONValue.int(lastID), .int(lastID), .long(Int64(lastID)), .double(Double(lastID))])
            documents.append(instances.document(for: schema, id: id))
        }
        return CaseGroup(schema: schema, documents: documents)
    }
}
