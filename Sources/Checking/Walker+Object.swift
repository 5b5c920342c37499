import BSON
import ServerSchema

extension Walker {
    /// Judges a document or an embedded object, or a dictionary.
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
            let field = fields[Int(node.fields.first) &+ found]
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
        case .unusableDefault(let type):
            let found = Found(BSONType(rawValue: type), .unusableDefault)
            sink.report(Finding(rule, .certain, node: node, found))
        case .unpartitioned(let isAllowed):
            sink.report(Finding(.partitionMissing, isAllowed ? .info : .certain, node: node, .missing))
        }
    }

    /// Looks for each of the required fields that have no bit: those after the first 64.
    ///
    /// Slower than the bits, but without a limit and without an allocation.
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

    /// Which of the 64 required fields that begin with number `first` the object has, a bit each.
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
