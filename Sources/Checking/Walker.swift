import BSON
import ServerSchema

/// Judges a document by a ``WalkPlan``, usually in one traversal, and reports its findings to a sink.
///
/// The arrays of the plan are borrowed as spans, so that the walker neither retains nor releases anything.
struct Walker: ~Escapable {
    let nodes: Span<CompiledSchema.Node>
    let fields: Span<CompiledSchema.Field>
    let lookup: FieldLookup
    let references: Span<CompiledSchema.Reference>
    let knowsReferences: Bool
    let allowsMixedCollections: Bool
    let refusesNulls: Bool

    @_lifetime(borrow plan)
    @inline(__always)
    init(_ plan: borrowing WalkPlan) {
        nodes = plan.nodes.span
        fields = plan.fields.span
        lookup = FieldLookup(plan.table)
        references = plan.references.span
        knowsReferences = plan.knowsReferences
        allowsMixedCollections = plan.options.allowsMixedCollections
        refusesNulls = plan.options.refusesNulls
    }

    /// Judges a whole document, and reports what does not fit the schema.
    func document<Sink: FindingSink>(_ view: borrowing BSONView, into sink: inout Sink) throws(BSONError) {
        try object(view, node: 0, depth: 0, into: &sink)
        if view.byteCount > Self.maximumBytes, !nodes[0].flags.contains(.prisma) { try tooLarge(view, into: &sink) }
    }

    /// Judges one value by a node of the schema, and reports what does not fit.
    @inline(__always)
    func value<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) {
        // The index comes from the compiled schema.
        if unsafe nodes[unchecked: index].plain.contains(TypeMask(element.type)) {
            return try pass(element, of: view, depth: depth, into: &sink)
        }
        try inspectClosely(element, of: view, node: index, depth: depth, into: &sink)
    }

    /// Skips a value without checking its contents, but validates its bytes if the sink asks for that.
    @inline(__always)
    func pass<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, depth: Int, into sink: inout Sink
    ) throws(BSONError) {
        if Sink.validates { try view.validate(element, levels: BSONView.maximumDepth &- depth) }
    }

    /// Judges a value, if the value's type alone does not show that it fits the schema.
    func inspectClosely<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) {
        sink.visit(at: element, of: view)
        let node = nodes[index]
        if node.flags.contains(.prisma) {
            return try prisma(element, of: view, node: index, depth: depth, into: &sink)
        }
        let type = TypeMask(element.type)
        if type == .null { return null(element, node: index, into: &sink) }
        guard node.accepts.contains(type) else {
            try pass(element, of: view, depth: depth, into: &sink)
            if node.flags.contains(.mixed) { return try mixed(element, of: view, node: index, level: 0, into: &sink) }
            return mismatch(element, of: view, node: index, into: &sink)
        }
        if type == .object {
            try object(try view.document(element), node: index, depth: depth &+ 1, into: &sink)
        } else if type == .array {
            try array(try view.document(element), node: index, depth: depth &+ 1, into: &sink)
        } else if type == .binData {
            binary(element, of: view, node: index, into: &sink)
        } else {
            try pass(element, of: view, depth: depth, into: &sink)
        }
    }

    private func null<Sink: FindingSink>(_ element: BSONElement, node index: Int, into sink: inout Sink) {
        let node = nodes[index]
        let found = Found(element.type)
        func report(_ rule: Rule, _ level: Level) { sink.report(Finding(rule, level, node: index, found)) }
        if node.place == .id { return report(.nullID, .possible) }
        if node.flags.contains(.partitionRequired) { return report(.partitionMissing, .certain) }
        if node.flags.contains(.required) {
            return report(node.flags.contains(.embedded) ? .embeddedRequiredNull : .requiredNull, .certain)
        }
        if node.flags.contains(.partition) { return report(.partitionMissing, .info) }
        if node.flags.contains(.mixed) || node.flags.contains(.nullable) { return }
        switch node.place {
        case .element: report(node.flags.contains(.link) ? .linkNullItem : .arrayItemNull, .certain)
        case .dictionaryValue:
            let isEmbedded = node.accepts == .object && !node.flags.contains(.dictionary)
            if !isEmbedded, !node.flags.contains(.link) { report(.dictionaryValueNull, .possible) }
        case .root, .id, .field:
            // Clients see an empty list, set or dictionary in place of null, but this is not documented, so the level
            // is a warning.
            let isCollection = node.accepts == .array || node.flags.contains(.dictionary)
            report(.nullOptional, refusesNulls ? .possible : isCollection ? .warning : .info)
        }
    }

    /// Judges binary data where the schema names `binData` or `uuid`.
    private func binary<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) {
        let flags = nodes[index].flags
        let subtype = view.binarySubtype(element)
        let hasUUIDLength = view.binaryLength(element) == 16
        if flags.contains(.uuid), subtype == 4, hasUUIDLength { return }
        if flags.contains(.binary), subtype == 0 { return }
        let found = Found(element.type, hasUUIDLength ? .sixteenBytes : .otherLength, subtype: subtype)
        if let rule = keyRule(flags) {
            sink.report(Finding(rule, .certain, node: index, found))
        } else if flags.contains(.binary) {
            sink.report(Finding(.binarySubtype, .possible, node: index, found))
        } else {
            sink.report(Finding(.uuidSubtype, .certain, node: index, found))
        }
    }
}

extension Walker {
    /// Judges the fields of a document, an embedded object, or a dictionary by a node of the schema.
    func object<Sink: FindingSink>(
        _ view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) {
        guard depth <= BSONView.maximumDepth else { throw BSONError(.tooDeep, at: view.start) }
        let node = nodes[index]
        var seen: UInt64 = 0
        var expected = 0
        var found = -1
        var position = view.firstPosition
        while let element = try lookup.next(
            &position, in: view, among: node.fields, expected: expected, found: &found)
        {
            guard found >= 0 else {
                try extra(element, of: view, node: index, depth: depth, into: &sink)
                continue
            }
            expected = found &+ 1
            // The search returns only indexes of the object's fields.
            let field = unsafe fields[unchecked: Int(node.fields.first) &+ found]
            seen |= field.requiredBit
            try value(element, of: view, node: Int(field.node), depth: depth, into: &sink)
            if !field.isDeclared { try extra(element, of: view, node: index, depth: depth, into: &sink) }
        }
        if node.required & ~seen != 0 { reportMissing(node: node, bits: node.required & ~seen, into: &sink) }
        if node.requiredCount > 64 { try reportMissingBeyond64(view, node: node, into: &sink) }
        if node.flags.contains(.geoPoint) { try geoPoint(view, node: index, into: &sink) }
    }

    @inline(never)
    private func reportMissing<Sink: FindingSink>(node: CompiledSchema.Node, bits: UInt64, into sink: inout Sink) {
        for offset in 0..<Int(node.fields.count) {
            let field = fields[Int(node.fields.first) + offset]
            if field.requiredBit & bits != 0 { reportMissing(field, into: &sink) }
        }
    }

    private func reportMissing<Sink: FindingSink>(_ field: CompiledSchema.Field, into sink: inout Sink) {
        let node = Int(field.node)
        if nodes[node].place == .id { return }
        let rule = nodes[node].flags.contains(.embedded) ? Rule.embeddedRequiredMissing : .requiredMissing
        switch field.whenMissing {
        case .certain: sink.report(Finding(rule, .certain, node: node, .missing))
        case .possible: sink.report(Finding(rule, .possible, node: node, .missing))
        case .defaulted: sink.report(Finding(.requiredMissingDefaulted, .info, node: node, .missing))
        case .readAsNull: sink.report(Finding(rule, .info, node: node, .missing))
        case .unusableDefault(let type):
            let found = Found(BSONType(rawValue: type), .unusableDefault)
            sink.report(Finding(rule, .certain, node: node, found))
        case .unpartitioned(let isAllowed):
            sink.report(Finding(.partitionMissing, isAllowed ? .info : .certain, node: node, .missing))
        }
    }

    /// Reports which required fields after the first 64 are missing.
    ///
    /// The bit mask of a node covers only the first 64 required fields. For each group of up to 64 later fields, the
    /// object is read one more time. This is slower, but needs no limit and no allocation.
    @inline(never)
    private func reportMissingBeyond64<Sink: FindingSink>(
        _ view: borrowing BSONView, node: CompiledSchema.Node, into sink: inout Sink
    ) throws(BSONError) {
        var first = 64
        while first < Int(node.requiredCount) {
            let seen = try seenFields(of: view, node: node, from: first)
            for offset in 0..<Int(node.fields.count) {
                let field = fields[Int(node.fields.first) + offset]
                let bit = Int(field.requiredIndex) - first
                if bit >= 0, bit < 64, seen & (1 << UInt64(bit)) == 0 { reportMissing(field, into: &sink) }
            }
            first += 64
        }
    }

    /// Returns a mask of the 64 required fields from the index `first` on, in which the bit of a field is 1 if the
    /// object has the field.
    private func seenFields(
        of view: borrowing BSONView, node: CompiledSchema.Node, from first: Int
    ) throws(BSONError) -> UInt64 {
        var seen: UInt64 = 0
        var expected = 0
        var position = view.firstPosition
        while let element = try view.next(&position) {
            let found = lookup.position(of: element, in: view, among: node.fields, expected: expected)
            guard found >= 0 else { continue }
            expected = found + 1
            let bit = Int(fields[Int(node.fields.first) + found].requiredIndex) - first
            if bit >= 0, bit < 64 { seen |= 1 << UInt64(bit) }
        }
        return seen
    }
}
