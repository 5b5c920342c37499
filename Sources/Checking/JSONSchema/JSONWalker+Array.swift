import BSON

extension JSONWalker {
    @inline(never)
    func array<Sink: FindingSink>(
        _ view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        guard depth <= BSONView.maximumDepth else { throw BSONError(.tooDeep, at: view.start) }
        let rule = arrayRules[Int(nodes[index].arrays)]
        let found = Found(.array)
        var fits = true
        var count = 0
        var position = view.firstPosition
        while let element = try view.step(&position) {
            let isFitting = try self.element(element, number: count, of: view, node: index, depth: depth, into: &sink)
            if !isFitting {
                fits = false
                if Sink.stopsAtFirst { return false }
            }
            count &+= 1
        }
        if count < rule.minimum { fits = fail(.tooFewItems, node: index, found, into: &sink) }
        if count > rule.maximum { fits = fail(.tooManyItems, node: index, found, into: &sink) }
        guard rule.isUnique, fits || !Sink.stopsAtFirst else { return fits }
        return try ValueSet.hasDuplicates(view) ? fail(.itemsNotUnique, node: index, found, into: &sink) : fits
    }

    @inline(__always)
    private func element<Sink: FindingSink>(
        _ element: BSONElement, number: Int, of view: borrowing BSONView, node index: Int, depth: Int,
        into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let rule = arrayRules[Int(nodes[index].arrays)]
        if rule.items >= 0 { return try value(element, of: view, node: Int(rule.items), depth: depth, into: &sink) }
        if number < Int(rule.tupleCount) {
            return try value(element, of: view, node: Int(rule.firstInTuple) &+ number, depth: depth, into: &sink)
        }
        guard rule.additional.isRestricted else { return true }
        if rule.additional.isForbidden {
            return fail(.additionalItem, node: index, Found(element.type), into: &sink)
        }
        return try value(element, of: view, node: Int(rule.additional.node), depth: depth, into: &sink)
    }
}
