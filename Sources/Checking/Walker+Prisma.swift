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
        if type == .string {
            let member = lookup.search(key(element, of: view), in: view.bytes, among: node.fields)
            if member < 0 { sink.report(Finding(.notInEnum, .certain, node: index, Found(element.type, .noMember))) }
        } else if type == .bool {
            sink.report(Finding(.boolAsNumber, .info, node: index, Found(element.type)))
        } else {
            prismaNumber(element, of: view, node: index, into: &sink)
        }
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
