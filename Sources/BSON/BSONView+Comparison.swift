/// Equality as the keywords `enum` and `uniqueItems` of `$jsonSchema` define it.
///
/// Two values are equal if neither sorts before the other in MongoDB's order. The order of an object's fields is
/// ignored.
///
/// Source: `UnorderedFieldsBSONElementComparator` in mongod 6.0.
extension BSONView {
    /// Whether the values of two elements are equal; their names are ignored.
    ///
    /// Numbers of different types are compared by value, and a string and a symbol by their text.
    ///
    /// If an object repeats a name, the first occurrences are compared with each other, then the second ones, and so
    /// on.
    /// - Throws: ``BSONError`` when a nested document is damaged or nested too deep.
    public func isEqual(
        _ element: BSONElement, to other: BSONElement, of view: borrowing BSONView
    ) throws(BSONError) -> Bool {
        try isEqual(element, to: other, of: view, levels: Self.maximumDepth)
    }

    /// Whether two documents have equal fields; the order of the fields is ignored.
    /// - Throws: the same errors as ``isEqual(_:to:of:)``.
    public func hasEqualFields(to other: borrowing BSONView) throws(BSONError) -> Bool {
        try hasEqualFields(to: other, levels: Self.maximumDepth)
    }

    private func isEqual(
        _ element: BSONElement, to other: BSONElement, of view: borrowing BSONView, levels: Int
    ) throws(BSONError) -> Bool {
        guard levels > 0 else { throw BSONError(.tooDeep, at: element.valueOffset) }
        switch (element.type, other.type) {
        case (.object, .object):
            return try document(element).hasEqualFields(to: view.document(other), levels: levels - 1)
        case (.array, .array):
            return try document(element).hasEqualElements(to: view.document(other), levels: levels - 1)
        case (.object, _), (_, .object), (.array, _), (_, .array): return false
        case (.javascriptWithScope, .javascriptWithScope):
            let scope = try scope(element)
            let otherScope = try view.scope(other)
            guard code(element, before: scope).isEqual(to: view.code(other, before: otherScope)) else { return false }
            return try scope.hasEqualFields(to: otherScope, levels: levels - 1)
        default: return compare(element, to: other, of: view) == .equal
        }
    }

    /// Returns the code of a `javascriptWithScope` element, without its length field and its NUL.
    /// - Parameter scope: the view of the same element's scope, which follows the code in the bytes.
    @_lifetime(copy self)
    private func code(_ element: BSONElement, before scope: borrowing BSONView) -> RawSpan {
        bytes.extracting(element.valueOffset + 8..<scope.start - 1)
    }

    private func hasEqualElements(to other: borrowing BSONView, levels: Int) throws(BSONError) -> Bool {
        var (position, otherPosition) = (firstPosition, other.firstPosition)
        while true {
            let (left, right) = (try next(&position), try other.next(&otherPosition))
            guard let left, let right else { return left == nil && right == nil }
            guard try isEqual(left, to: right, of: other, levels: levels) else { return false }
        }
    }

    private func hasEqualFields(to other: borrowing BSONView, levels: Int) throws(BSONError) -> Bool {
        var (position, otherPosition) = (firstPosition, other.firstPosition)
        while true {
            let (start, otherStart) = (position, otherPosition)
            let (left, right) = (try next(&position), try other.next(&otherPosition))
            guard let left, let right else { return left == nil && right == nil }
            guard nameBytes(left).isEqual(to: other.nameBytes(right)) else {
                // The order of the fields differs from here on, so each remaining field is looked up by its name.
                return try hasEqualFields(from: start, to: other, from: otherStart, levels: levels)
            }
            guard try isEqual(left, to: right, of: other, levels: levels) else { return false }
        }
    }

    private func hasEqualFields(
        from start: Int, to other: borrowing BSONView, from otherStart: Int, levels: Int
    ) throws(BSONError) -> Bool {
        var (position, count) = (start, 0)
        while let field = try next(&position) {
            count += 1
            let number = try occurrences(of: field, from: start)
            guard let match = try other.occurrence(number, ofNameOf: field, of: self, from: otherStart),
                try isEqual(field, to: match, of: other, levels: levels)
            else { return false }
        }
        return try other.count(from: otherStart) == count
    }

    private func count(from start: Int) throws(BSONError) -> Int {
        var (position, count) = (start, 0)
        while try next(&position) != nil { count += 1 }
        return count
    }

    private func occurrences(of field: BSONElement, from start: Int) throws(BSONError) -> Int {
        var (position, count) = (start, 0)
        while let other = try next(&position), other.nameOffset < field.nameOffset {
            if nameBytes(other).isEqual(to: nameBytes(field)) { count += 1 }
        }
        return count
    }

    private func occurrence(
        _ number: Int, ofNameOf field: BSONElement, of view: borrowing BSONView, from start: Int
    ) throws(BSONError) -> BSONElement? {
        var (position, rest) = (start, number)
        while let candidate = try next(&position) {
            guard nameBytes(candidate).isEqual(to: view.nameBytes(field)) else { continue }
            if rest == 0 { return candidate }
            rest -= 1
        }
        return nil
    }
}

/// MongoDB's order of documents and values.
///
/// Source: `BSONObj::woCompare` and `BSONElement::compareElements` in mongod 6.0.
extension BSONView {
    /// Compares two documents field by field: the types, then the names, then the values.
    ///
    /// If one document ends while all fields so far are equal, it is less than the other.
    public func compare(to other: borrowing BSONView) -> BSONOrder {
        compareFields(to: other, names: true, levels: Self.maximumDepth)
    }

    /// Compares the values of two elements; their names are ignored.
    public func compare(_ element: BSONElement, to other: BSONElement, of view: borrowing BSONView) -> BSONOrder {
        let (place, otherPlace) = (element.type.sortPlace, other.type.sortPlace)
        guard place == otherPlace else { return BSONOrder(place, otherPlace) }
        return compareValues(element, other, of: view, levels: Self.maximumDepth)
    }

    private func compareFields(to other: borrowing BSONView, names: Bool, levels: Int) -> BSONOrder {
        var (position, otherPosition) = (firstPosition, other.firstPosition)
        while true {
            // A document counts as ended at a damaged element, so that the order stays total and a sort does not throw.
            let left = (try? next(&position)) ?? nil
            let right = (try? other.next(&otherPosition)) ?? nil
            guard let left, let right else { return BSONOrder(left == nil ? 0 : 1, right == nil ? 0 : 1) }
            let (place, otherPlace) = (left.type.sortPlace, right.type.sortPlace)
            guard place == otherPlace else { return BSONOrder(place, otherPlace) }
            if names {
                let order = BSONOrder(nameBytes(left), other.nameBytes(right))
                guard order == .equal else { return order }
            }
            let order = compareValues(left, right, of: other, levels: levels)
            guard order == .equal else { return order }
        }
    }

    /// Compares two values whose types are equal in MongoDB's order of types, such as an int and a double.
    private func compareValues(
        _ left: BSONElement, _ right: BSONElement, of other: borrowing BSONView, levels: Int
    ) -> BSONOrder {
        if let left = number(left), let right = other.number(right) { return left.compared(to: right) }
        switch left.type {
        case .string, .symbol, .javascript: return BSONOrder(stringBytes(left), other.stringBytes(right))
        case .object: return compareNested(left, right, of: other, names: true, levels: levels)
        case .array: return compareNested(left, right, of: other, names: false, levels: levels)
        case .javascriptWithScope: return compareScoped(left, right, of: other, levels: levels)
        case .date: return BSONOrder(int64(left), other.int64(right))
        case .timestamp: return BSONOrder(UInt64(bitPattern: int64(left)), UInt64(bitPattern: other.int64(right)))
        case .bool: return BSONOrder(bool(left) ? 1 : 0, other.bool(right) ? 1 : 0)
        case .binData, .dbPointer:
            guard left.valueLength == right.valueLength else {
                return BSONOrder(left.valueLength, right.valueLength)
            }
            return BSONOrder(valueBytes(left), other.valueBytes(right))
        // The bytes of a regular expression are its pattern, a NUL, and its options, so the comparison of the bytes
        // compares the patterns first.
        case .objectId, .regex: return BSONOrder(valueBytes(left), other.valueBytes(right))
        default: return .equal
        }
    }

    private func compareNested(
        _ left: BSONElement, _ right: BSONElement, of other: borrowing BSONView, names: Bool, levels: Int
    ) -> BSONOrder {
        let inner = try? document(left)
        let otherInner = try? other.document(right)
        guard let inner, let otherInner else { return BSONOrder(inner == nil ? 0 : 1, otherInner == nil ? 0 : 1) }
        return levels > 0 ? inner.compareFields(to: otherInner, names: names, levels: levels - 1) : .equal
    }

    private func compareScoped(
        _ left: BSONElement, _ right: BSONElement, of other: borrowing BSONView, levels: Int
    ) -> BSONOrder {
        let inner = try? scope(left)
        let otherInner = try? other.scope(right)
        guard let inner, let otherInner else { return BSONOrder(inner == nil ? 0 : 1, otherInner == nil ? 0 : 1) }
        let order = BSONOrder(
            bytes.extracting(left.valueOffset + 8..<inner.start - 1),
            other.bytes.extracting(right.valueOffset + 8..<otherInner.start - 1))
        guard order == .equal, levels > 0 else { return order }
        return inner.compareFields(to: otherInner, names: true, levels: levels - 1)
    }
}

extension BSONOrder {
    /// Compares two byte sequences by the first bytes that differ; if there are none, by their lengths.
    fileprivate init(_ left: RawSpan, _ right: RawSpan) {
        let count = min(left.byteCount, right.byteCount)
        for offset in 0..<count {
            let byte = unsafe left.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            let other = unsafe right.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            guard byte == other else {
                self = byte < other ? .less : .greater
                return
            }
        }
        self.init(left.byteCount, right.byteCount)
    }
}
