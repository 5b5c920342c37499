import BSON
import ServerSchema

extension Walker {
    /// Judges an array by a schema node that describes a list, a set, or a tuple.
    func array<Sink: FindingSink>(
        _ view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) {
        guard depth <= BSONView.maximumDepth else { throw BSONError(.tooDeep, at: view.start) }
        let node = nodes[index]
        if node.items >= 0 || Sink.validates {
            var count = 0
            var position = view.firstPosition
            while let element = try view.step(&position) {
                if node.items < 0 {
                    try pass(element, of: view, depth: depth, into: &sink)
                } else if node.tupleCount == 0 {
                    try value(element, of: view, node: Int(node.items), depth: depth, into: &sink)
                } else if count < Int(node.tupleCount) {
                    try value(element, of: view, node: Int(node.items) &+ count, depth: depth, into: &sink)
                } else {
                    try pass(element, of: view, depth: depth, into: &sink)
                }
                count &+= 1
            }
        }
        if node.flags.contains(.set), try ValueSet.hasDuplicates(view) {
            let found = Found(BSONType(rawValue: 4), .equalElements)
            sink.report(Finding(.setDuplicate, .possible, node: index, found))
        }
    }

    /// Judges the coordinates of an object whose `type` is "Point".
    func geoPoint<Sink: FindingSink>(
        _ view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) throws(BSONError) {
        guard let type = try view.find("type"), TypeMask(type.type) == .string,
            view.stringBytes(type).isEqual(to: "Point"), let problem = try coordinateProblem(view)
        else { return }
        sink.report(Finding(.geoPoint, .certain, node: index, Found(BSONType(rawValue: 3), problem)))
    }

    private func coordinateProblem(_ view: borrowing BSONView) throws(BSONError) -> Found.Detail? {
        guard let coordinates = try view.find("coordinates"), TypeMask(coordinates.type) != .null else {
            return .noCoordinates
        }
        // If `coordinates` is not an array, another rule reports it.
        guard TypeMask(coordinates.type) == .array else { return nil }
        let array = try view.document(coordinates)
        var count = 0
        var isInRange = true
        var position = array.firstPosition
        while let element = try array.next(&position) {
            guard TypeMask(element.type) == .double else { return .coordinateType }
            let limit: Double = count == 0 ? 180 : count == 1 ? 90 : .infinity
            if count < 2, !(abs(array.double(element)) <= limit) { isInRange = false }
            count += 1
        }
        return count < 2 ? .fewCoordinates : isInRange ? nil : .coordinateRange
    }
}

extension Walker {
    /// The largest number of levels of arrays and objects in a mixed value.
    private static var maximumMixedDepth: Int { 100 }

    /// Judges a value of a `mixed` field, or a value inside it.
    /// - Parameter level: The number of mixed arrays and objects around the value.
    func mixed<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, level: Int, into sink: inout Sink
    ) throws(BSONError) {
        sink.visit(at: element, of: view)
        let type = TypeMask(element.type)
        let found = Found(element.type)
        if type == .null || TypeMask.mixedScalars.contains(type) { return }
        if type == .binData { return mixedBinary(element, of: view, node: index, into: &sink) }
        if TypeMask.deprecated.contains(type) {
            return sink.report(Finding(.undefinedValue, .certain, node: index, found))
        }
        guard type == .object || type == .array else {
            return sink.report(Finding(.mixedType, .possible, node: index, found))
        }
        let content = try view.document(element)
        if type == .object, try isLink(content) { return try reference(content, node: index, into: &sink) }
        guard allowsMixedCollections else {
            return sink.report(Finding(.mixedCollection, .certain, node: index, found))
        }
        guard level < Self.maximumMixedDepth else {
            return sink.report(Finding(.mixedDepth, .certain, node: index, Found(BSONType(rawValue: 4), .tooDeep)))
        }
        try mixedContent(content, isObject: type == .object, node: index, level: level + 1, into: &sink)
    }

    private func mixedContent<Sink: FindingSink>(
        _ view: borrowing BSONView, isObject: Bool, node index: Int, level: Int, into sink: inout Sink
    ) throws(BSONError) {
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if isObject { key(element, of: view, node: index, into: &sink) }
            sink.enter(isObject ? .values : .elements)
            try mixed(element, of: view, node: index, level: level, into: &sink)
            sink.leave()
        }
    }

    private func mixedBinary<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) {
        let subtype = view.binarySubtype(element)
        let detail: Found.Detail = view.binaryLength(element) == 16 ? .sixteenBytes : .otherLength
        if subtype == 0 || subtype == 4 && detail == .sixteenBytes { return }
        sink.report(Finding(.mixedType, .possible, node: index, Found(element.type, detail, subtype: subtype)))
    }

    /// Whether an object is a DBRef, which is a link in a mixed value.
    private func isLink(_ view: borrowing BSONView) throws(BSONError) -> Bool {
        var position = view.firstPosition
        guard let collection = try view.next(&position), TypeMask(collection.type) == .string,
            view.nameBytes(collection).isEqual(to: "$ref"), let id = try view.next(&position)
        else { return false }
        return view.nameBytes(id).isEqual(to: "$id")
    }
}

extension Walker {
    /// Judges a link in a mixed value: an object that begins with `$ref` and `$id`, possibly followed by `$db`.
    ///
    /// Reports nothing if the app's other collections are not known.
    func reference<Sink: FindingSink>(
        _ view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) throws(BSONError) {
        var position = view.firstPosition
        guard knowsReferences, let collection = try view.next(&position), let id = try view.next(&position) else {
            return
        }
        guard let target = target(collection, in: try database(view, after: position), of: view) else {
            let found = Found(BSONType(rawValue: 3), .unsyncedReference)
            return sink.report(Finding(.mixedDBRef, .possible, node: index, found))
        }
        if !fits(id, of: view, references[target]) {
            sink.report(Finding(.mixedDBRef, .possible, node: index, Found(id.type, .referenceIDType)))
        }
    }

    private func database(_ view: borrowing BSONView, after end: Int) throws(BSONError) -> FieldKey? {
        var position = end
        guard let element = try view.next(&position), TypeMask(element.type) == .string,
            view.nameBytes(element).isEqual(to: "$db")
        else { return nil }
        return key(element, of: view)
    }

    private func target(_ collection: BSONElement, in database: FieldKey?, of view: borrowing BSONView) -> Int? {
        let key = key(collection, of: view)
        for index in references.indices {
            let reference = references[index]
            guard key.matches(reference.collection, in: view.bytes, names: lookup.names) else { continue }
            if let database {
                if database.matches(reference.database, in: view.bytes, names: lookup.names) { return index }
            } else if reference.isNear {
                return index
            }
        }
        return nil
    }

    /// Returns the key of a string's text, for comparing the text with names in the field table.
    func key(_ text: BSONElement, of view: borrowing BSONView) -> FieldKey {
        FieldKey(view.bytes, at: text.valueOffset + 4, length: text.valueLength - 5)
    }

    private func fits(_ id: BSONElement, of view: borrowing BSONView, _ target: CompiledSchema.Reference) -> Bool {
        let type = TypeMask(id.type)
        guard type == .binData else { return target.idTypes.contains(type) }
        return target.hasUUIDs && view.binarySubtype(id) == 4 && view.binaryLength(id) == 16
    }
}

extension Walker {
    /// Judges a field that `properties` does not name: an entry of a dictionary, or an additional field.
    func extra<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) {
        let node = nodes[index]
        let found = Found(element.type)
        if node.flags.contains(.dictionary) {
            key(element, of: view, node: index, into: &sink)
            return try value(element, of: view, node: Int(node.additional), depth: depth, into: &sink)
        }
        try pass(element, of: view, depth: depth, into: &sink)
        // A Prisma client does not read a field that the schema does not name, so the field has no finding.
        if node.flags.contains(.prisma) { return }
        if node.place == .root, isReserved(element, of: view) {
            return sink.report(Finding(.reservedField, .warning, node: index, found), extra: element, of: view)
        }
        if node.flags.contains(.ignoresExtras) { return }
        if node.flags.contains(.closed) {
            return sink.report(Finding(.additionalProperty, .possible, node: index, found), extra: element, of: view)
        }
        if node.additional >= 0 {
            var own = VerdictSink()
            try value(element, of: view, node: Int(node.additional), depth: depth, into: &own)
            if own.verdict >= .possible {
                let finding = Finding(.additionalProperty, .possible, node: index, found)
                return sink.report(finding, extra: element, of: view)
            }
        }
        sink.report(Finding(.extraField, .info, node: index, found), extra: element, of: view)
    }

    /// Judges a dictionary's key, and reports a key that clients cannot use.
    func key<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) {
        let name = view.nameBytes(element)
        let detail: Found.Detail
        if name.isEmpty {
            detail = .emptyKey
        } else if unsafe name.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == UInt8(ascii: "$") {
            detail = .dollarKey
        } else if name.contains(UInt8(ascii: ".")) {
            detail = .dottedKey
        } else {
            return
        }
        // The finding names the type `object` (3) instead of the type of the key's value, so that all keys with this
        // problem are in one group.
        sink.report(Finding(.dictionaryKey, .possible, node: index, Found(BSONType(rawValue: 3), detail)))
    }

    /// Whether a field is one of the two fields in which the sync engine stores its lock on a document.
    private func isReserved(_ element: BSONElement, of view: borrowing BSONView) -> Bool {
        guard element.nameLength >= 21 else { return false }
        let name = view.nameBytes(element)
        return name.isEqual(to: "_id__baas_transaction") || name.isEqual(to: "_id_realm_transaction")
    }
}

extension RawSpan {
    /// Whether one of the bytes is `byte`.
    func contains(_ byte: UInt8) -> Bool {
        for index in 0..<byteCount where unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self) == byte {
            return true
        }
        return false
    }
}

// MARK: mismatches

extension Walker {
    /// Reports the finding for a value whose BSON type is not among the types that the value's schema node accepts.
    @inline(never)
    func mismatch<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) {
        let node = nodes[index]
        let type = TypeMask(element.type)
        let found = Found(element.type)
        if node.place == .id {
            // The client has one integer type, so the checker accepts an `int` for a `long`, and a `long` for an `int`.
            if TypeMask.integers.contains(type), !node.accepts.isDisjoint(with: .integers) { return }
            return sink.report(Finding(.idTypeMismatch, .certain, node: index, found))
        }
        if TypeMask.deprecated.contains(type) {
            return sink.report(Finding(.undefinedValue, .certain, node: index, found))
        }
        let key = keyRule(node.flags)
        // A partition key or a link to another document must be of the type that the schema names. An `int` for a
        // `long`, or a `long` for an `int`, gets a milder finding, because the client has one integer type.
        let comparable: TypeMask = key == nil ? .numbers : .integers
        if comparable.contains(type), !node.accepts.isDisjoint(with: comparable) {
            return sink.report(numericMismatch(element, of: view, node: index))
        }
        if let key { return sink.report(Finding(key, .certain, node: index, found)) }
        let rule: Rule =
            switch node.place {
            case .element: type == .array ? .arrayNested : .arrayItemType
            case .dictionaryValue: .dictionaryValueType
            case .root, .id, .field:
                node.accepts == .object ? .embeddedNotObject : node.accepts == .array ? .arrayNotArray : .typeMismatch
            }
        sink.report(Finding(rule, .certain, node: index, found))
    }

    /// Returns the rule for a wrong type of a partition key or of a link to another document; `nil` for other values.
    func keyRule(_ flags: CompiledSchema.Flags) -> Rule? {
        flags.contains(.partition) ? .partitionType : flags.contains(.link) ? .linkType : nil
    }

    /// Judges a number by each numeric type that the schema names, and returns the mildest of the findings.
    private func numericMismatch(_ element: BSONElement, of view: borrowing BSONView, node index: Int) -> Finding {
        let number = Number(element, of: view)
        var best: (finding: Finding, severity: Int)?
        for target: TypeMask in [.decimal, .double, .long, .int]
        where nodes[index].accepts.contains(target) {
            let detail = number.fitness(for: target)
            let (rule, level, severity): (Rule, Level, Int) =
                switch detail {
                case .exact: (.numericWidthMismatch, .possible, 0)
                case .beyondInt32: (.numericLossy, .possible, 1)
                default: (.numericLossy, .certain, 2)
                }
            if let best, best.severity <= severity { continue }
            best = (Finding(rule, level, node: index, Found(element.type, detail)), severity)
        }
        return best?.finding ?? Finding(.typeMismatch, .certain, node: index, Found(element.type))
    }
}

extension Walker {
    /// The largest number of bytes of a value or a document: 16 MB, which here means 16,000,000 bytes.
    ///
    /// The server stores documents of at most 16 MiB, so no value could exceed a limit of 16 MiB. Source: the limits
    /// for values and write transactions in `semantics.md`, section 5.1 of the project's reference.
    static var maximumBytes: Int { 16_000_000 }

    /// Reports a document that is too large, and the value in it that is too large by itself, if there is one.
    @inline(never)
    func tooLarge<Sink: FindingSink>(_ view: borrowing BSONView, into sink: inout Sink) throws(BSONError) {
        sink.report(Finding(.valueTooLarge, .possible, node: 0, Found(BSONType(rawValue: 3), .tooLarge)))
        try valueTooLarge(in: view, isArray: false, node: 0, depth: 0, into: &sink)
    }

    /// Reports the strings and binary values in an object or array that are longer than ``maximumBytes``.
    /// - Parameter node: The node of the object or array in the view; -1 if the schema does not describe it.
    private func valueTooLarge<Sink: FindingSink>(
        in view: borrowing BSONView, isArray: Bool, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) {
        guard depth <= BSONView.maximumDepth else { throw BSONError(.tooDeep, at: view.start) }
        var position = view.firstPosition
        while let element = try view.next(&position) {
            guard element.valueLength > Self.maximumBytes else { continue }
            let type = TypeMask(element.type)
            let isContainer = type == .object || type == .array
            // Five bytes of the value do not count: the four of its length, and the string's terminator or the binary
            // data's subtype.
            let isLarge = TypeMask([.string, .binData]).contains(type) && element.valueLength - 5 > Self.maximumBytes
            guard isContainer || isLarge else { continue }
            let child = child(element, of: view, isArray: isArray, node: index)
            if isArray {
                sink.enter(.elements)
            } else if index < 0 || nodes[index].flags.contains(.dictionary) {
                sink.enter(.values)
            } else {
                sink.enter(.field(view.name(element)))
            }
            if isContainer {
                try valueTooLarge(
                    in: try view.document(element), isArray: type == .array, node: child, depth: depth + 1, into: &sink)
            } else {
                sink.report(Finding(.valueTooLarge, .possible, node: 0, Found(element.type, .tooLarge)))
            }
            sink.leave()
        }
    }

    private func child(_ element: BSONElement, of view: borrowing BSONView, isArray: Bool, node index: Int) -> Int {
        guard index >= 0 else { return -1 }
        let node = nodes[index]
        if isArray { return node.tupleCount == 0 ? Int(node.items) : -1 }
        if node.flags.contains(.dictionary) { return Int(node.additional) }
        let found = lookup.position(of: element, in: view, among: node.fields, expected: 0)
        return found < 0 ? -1 : Int(fields[Int(node.fields.first) + found].node)
    }
}
