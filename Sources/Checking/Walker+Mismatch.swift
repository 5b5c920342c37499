import BSON
import ServerSchema

extension Walker {
    /// Reports the finding for a value of a type that its node does not name.
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
        // A key must be of the named type, except that the client's one integer type is both `int` and `long`.
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

    /// Returns the rule for a wrong type if the value is a partition key or a link's key; `nil` for other values.
    func keyRule(_ flags: CompiledSchema.Flags) -> Rule? {
        flags.contains(.partition) ? .partitionType : flags.contains(.link) ? .linkType : nil
    }

    /// Judges a number by the numeric types that the schema names, and returns the mildest finding.
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

    /// Searches for the value that is too large by itself, and reports it.
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
            // Without the four bytes of the length, and without the string's terminator or the binary data's subtype.
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
