import BSON
import ServerSchema

/// The value, or the values, that a subschema judges.
enum JSONSubject {
    /// The value of one field or array element.
    case element(BSONElement)
    /// The object in the view as a whole: a document or, for a property with the name "", the object that contains it.
    case whole
    /// All values at a path; most keywords require that at least one of them fits.
    case path(PathValues)

    /// The type that findings report; for a path, the type of its first value, or `undefined` if there is none.
    var found: Found {
        switch self {
        case .element(let element): Found(element.type)
        case .whole: Found(.object)
        case .path(let values): Found(values.whole.first?.type ?? .undefined)
        }
    }
}

/// Judges values by `enum`, `encrypt`, and the keywords that combine schemas.
extension JSONWalker {
    func judge<Sink: FindingSink>(
        _ subject: JSONSubject, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        switch subject {
        case .element(let element): try value(element, of: view, node: index, depth: depth, into: &sink)
        case .whole: try object(view, node: index, depth: depth, into: &sink)
        case .path(let values): try path(values, of: view, node: index, depth: depth, into: &sink)
        }
    }

    @inline(never)
    func values<Sink: FindingSink>(
        _ subject: JSONSubject, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let rule = valueRules[Int(nodes[index].values)]
        var fits = true
        if rule.isEncrypted, !isEncrypted(subject, of: view, rule) {
            fits = fail(.encryptMismatch, node: index, subject.found, into: &sink)
        }
        if rule.allowedCount >= 0, try !isAllowed(subject, of: view, rule) {
            fits = fail(.notInEnum, node: index, subject.found, into: &sink)
        }
        for offset in 0..<Int(rule.combinationCount) {
            guard fits || !Sink.stopsAtFirst else { return false }
            let combination = combinations[Int(rule.firstCombination) &+ offset]
            if try !combine(combination, subject, of: view, node: index, depth: depth, into: &sink) { fits = false }
        }
        return fits
    }

    private func combine<Sink: FindingSink>(
        _ combination: JSONSchemaPlan.Combination, _ subject: JSONSubject, of view: borrowing BSONView,
        node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        var count = 0
        for member in Int(combination.first)..<Int(combination.first &+ combination.count) {
            let fits: Bool
            if combination.kind == .allOf {
                fits = try judge(subject, of: view, node: member, depth: depth, into: &sink)
            } else {
                // A schema of `anyOf`, `oneOf` or `not` need not fit, so it reports no findings of its own.
                var quiet = QuickSink()
                fits = try judge(subject, of: view, node: member, depth: depth, into: &quiet)
            }
            if fits { count &+= 1 }
        }
        if !Sink.stopsAtFirst, count == 0, try explain(combination, subject, of: view, depth: depth, into: &sink) {
            return false
        }
        switch combination.kind {
        case .allOf where count < combination.count: return fail(.allOf, node: index, subject.found, into: &sink)
        case .anyOf where count == 0: return fail(.anyOf, node: index, subject.found, into: &sink)
        case .oneOf where count != 1:
            let found = Found(subject.found.type, count == 0 ? .noneFits : .severalFit)
            return fail(.oneOf, node: index, found, into: &sink)
        case .not where count > 0: return fail(.not, node: index, subject.found, into: &sink)
        default: return true
        }
    }

    private func isAllowed(
        _ subject: JSONSubject, of view: borrowing BSONView, _ rule: JSONSchemaPlan.ValueRule
    ) throws(BSONError) -> Bool {
        let all = Int(rule.firstAllowed)..<Int(rule.firstAllowed &+ rule.allowedCount)
        guard all.count > JSONSchemaPlan.AllowedValues.few else {
            return try isAllowed(subject, of: view, among: all)
        }
        switch subject {
        case .element(let element):
            let hash = try ValueHash.hash(element, of: view, depth: 0)
            return try isAllowed(subject, of: view, among: allowed(by: hash, in: all))
        case .whole:
            return try isAllowed(subject, of: view, among: allowed(by: try ValueHash.hash(object: view), in: all))
        case .path(let values):
            for element in values.whole where try isAllowed(.element(element), of: view, rule) { return true }
            return values.hasGap ? try isAllowed(subject, of: view, among: all) : false
        }
    }

    /// Returns the indexes of the hashes in `all` that are equal to `hash`; the hashes in `all` are in ascending order.
    private func allowed(by hash: UInt64, in all: Range<Int>) -> Range<Int> {
        var (low, high) = (all.lowerBound, all.upperBound)
        while low < high {
            let middle = (low &+ high) / 2
            if allowedHashes[middle] < hash { low = middle &+ 1 } else { high = middle }
        }
        while high < all.upperBound, allowedHashes[high] == hash { high &+= 1 }
        return low..<high
    }

    private func isAllowed(
        _ subject: JSONSubject, of view: borrowing BSONView, among range: Range<Int>
    ) throws(BSONError) -> Bool {
        for place in range {
            let holder = allowedValues[place]
            let allowed = holder.view
            var position = allowed.firstPosition
            guard let other = try allowed.next(&position) else { continue }
            switch subject {
            case .element(let element):
                if try view.isEqual(element, to: other, of: allowed) { return true }
            case .whole:
                if other.type == .object, try view.hasEqualFields(to: allowed.document(other)) { return true }
            case .path(let values):
                if values.hasGap, other.type == .undefined { return true }
                for element in values.whole where try view.isEqual(element, to: other, of: allowed) { return true }
            }
        }
        return false
    }

    private func isEncrypted(
        _ subject: JSONSubject, of view: borrowing BSONView, _ rule: JSONSchemaPlan.ValueRule
    ) -> Bool {
        switch subject {
        case .element(let element): isEncrypted(element, of: view) && hasEncryptedType(element, of: view, rule)
        case .whole: false
        case .path(let values):
            values.whole.contains { isEncrypted($0, of: view) }
                && values.whole.contains { hasEncryptedType($0, of: view, rule) }
        }
    }

    private func isEncrypted(_ element: BSONElement, of view: borrowing BSONView) -> Bool {
        element.type == .binData && view.binarySubtype(element) == 6
    }

    /// Whether `encrypt` allows the type that the header of an encrypted value names; true if `encrypt` names no types.
    ///
    /// The header consists of the algorithm (1 byte), the key (16 bytes) and the type (1 byte). Source: `FleBlobHeader`
    /// in mongod 6.0, tested on a server: only algorithms 1 and 2 name the type.
    private func hasEncryptedType(
        _ element: BSONElement, of view: borrowing BSONView, _ rule: JSONSchemaPlan.ValueRule
    ) -> Bool {
        guard rule.namesEncryptedTypes else { return true }
        guard isEncrypted(element, of: view), view.binaryLength(element) >= 18 else { return false }
        let start = element.valueOffset + 5
        let algorithm = unsafe view.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt8.self)
        let type = unsafe view.bytes.unsafeLoadUnaligned(fromByteOffset: start + 17, as: UInt8.self)
        guard algorithm == 1 || algorithm == 2, (1...19).contains(type) || type == 0xFF || type == 0x7F else {
            return false
        }
        return rule.encryptedTypes.contains(TypeMask(BSONType(rawValue: type)))
    }
}

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
