import BSON

/// Judges values as a Prisma client reads them.
///
/// Source: `read_scalar_value` and `read_composite_value` in
/// `query-engine/connectors/mongodb-query-connector/src/value.rs`, and `serialize_scalar` and `serialize_composite` in
/// `query-engine/core/src/response_ir/internal.rs` of prisma/prisma-engines.
extension Walker {
    @inline(never)
    func prisma<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) {
        let node = nodes[index]
        let type = TypeMask(element.type)
        if type == .null { return prismaNull(node: index, into: &sink) }
        guard node.accepts.contains(type) else {
            try pass(element, of: view, depth: depth, into: &sink)
            return prismaMismatch(Found(element.type), node: index, into: &sink)
        }
        if type == .object {
            if node.flags.contains(.shared) { sink.enter(node: index) }
            try object(try view.document(element), node: index, depth: depth &+ 1, into: &sink)
            if node.flags.contains(.shared) { sink.leaveNode() }
            return
        }
        if type == .array {
            return try array(try view.document(element), node: index, depth: depth &+ 1, into: &sink)
        }
        try pass(element, of: view, depth: depth, into: &sink)
        if node.flags.contains(.enumeration) {
            let member = lookup.search(key(element, of: view), in: view.bytes, among: node.fields)
            if member < 0 { sink.report(Finding(.notInEnum, .certain, node: index, Found(element.type, .noMember))) }
        } else if TypeMask.numbers.contains(type) {
            prismaNumber(element, of: view, node: index, into: &sink)
        } else {
            prismaStored(element, of: view, node: index, into: &sink)
        }
    }

    /// Judges a value that the client can read, but perhaps not name in a query, because it writes another BSON type.
    ///
    /// The server compares values of different types as unequal; only numbers are equal across their types.
    /// Source: `into_bson` in `value.rs` at 93c574c2, by which `filter.rs` at bfb636ea builds each comparison.
    private func prismaStored<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) {
        let (node, type) = (nodes[index], TypeMask(element.type))
        var (rule, found) = (Rule.storedType, Found(element.type))
        if node.plain.contains(.objectId) {
            if !view.canBeObjectID(element) { (rule, found.detail) = (.malformedObjectID, .noObjectID) }
        } else if type == .binData {
            let subtype = view.binarySubtype(element)
            if subtype == 0 { return }
            found = Found(
                element.type, view.binaryLength(element) == 16 ? .sixteenBytes : .otherLength, subtype: subtype)
        } else if type == TypeMask(BSONType.timestamp), !node.plain.contains(.date) {
            // The increment is in the lower half of the value.
            if UInt32(truncatingIfNeeded: view.int64(element)) == 0 { return }
            found.detail = .increment
        }
        sink.report(Finding(rule, .certain, node: index, found))
    }

    private func prismaNull<Sink: FindingSink>(node index: Int, into sink: inout Sink) {
        let node = nodes[index]
        let found = Found(BSONType.null)
        if node.place == .element {
            // In a list of embedded types, the client returns a null element, although the types that the client
            // declares for its users exclude null.
            let level: Level = node.accepts == .object ? .info : .certain
            return sink.report(Finding(.arrayItemNull, level, node: index, found))
        }
        if node.flags.contains(.defaulted) {
            return sink.report(Finding(.requiredNullDefaulted, .info, node: index, found))
        }
        let rule: Rule = node.flags.contains(.embedded) ? .embeddedRequiredNull : .requiredNull
        sink.report(Finding(rule, .certain, node: index, found))
    }

    private func prismaMismatch<Sink: FindingSink>(_ found: Found, node index: Int, into sink: inout Sink) {
        let node = nodes[index]
        let rule: Rule =
            if node.place == .element {
                TypeMask(found.type) == .array ? .arrayNested : .arrayItemType
            } else {
                node.accepts == .object ? .embeddedNotObject : node.accepts == .array ? .arrayNotArray : .typeMismatch
            }
        sink.report(Finding(rule, .certain, node: index, found))
    }

    /// Judges a number that a Prisma client converts to the numeric type of the field.
    private func prismaNumber<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) {
        let isFloat = nodes[index].prismaNumber == .double
        var detail = Found.Detail.exact
        if TypeMask(element.type) == .double {
            let value = view.double(element)
            if isFloat, value.isFinite { return }
            detail = Number.double(value).fitness(for: .long)
            if isFloat { return prismaMismatch(Found(element.type, detail), node: index, into: &sink) }
        }
        // The client returns the value as a number of JavaScript, so an integer must also be exact as a double.
        if detail == .exact { detail = Number(element, of: view).fitness(for: .double) }
        if detail != .exact {
            sink.report(Finding(.numericLossy, .info, node: index, Found(element.type, detail)))
        }
    }
}

extension BSONView {
    /// Whether an ObjectId can be made of a string, which needs 24 hexadecimal digits, or of binary data of 12 bytes.
    fileprivate func canBeObjectID(_ element: BSONElement) -> Bool {
        guard element.type == .string else { return binaryLength(element) == 12 }
        guard element.valueLength == 24 + 5 else { return false }
        for offset in element.valueOffset + 4..<element.valueOffset + 28 {
            switch unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: continue  // 0 to 9, A to F, a to f
            default: return false
            }
        }
        return true
    }
}
