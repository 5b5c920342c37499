/// Source: `BSONObj::woCompare` and `BSONElement::compareElements` in mongod 6.0.
extension BSONView {
    /// Compares two documents field by field: type, then name, then value; the shorter one of equals stands first.
    public func compare(to other: borrowing BSONView) -> BSONOrder {
        compareFields(to: other, names: true, levels: Self.maximumDepth)
    }

    /// Compares two elements' values, their names aside.
    public func compare(_ element: BSONElement, to other: BSONElement, of view: borrowing BSONView) -> BSONOrder {
        let (place, otherPlace) = (element.type.sortPlace, other.type.sortPlace)
        guard place == otherPlace else { return BSONOrder(place, otherPlace) }
        return compareValues(element, other, of: view, levels: Self.maximumDepth)
    }

    private func compareFields(to other: borrowing BSONView, names: Bool, levels: Int) -> BSONOrder {
        var (position, otherPosition) = (firstPosition, other.firstPosition)
        while true {
            // A damaged element counts as the end: the order stays total, and nothing is thrown in a sort.
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

    /// Compares values whose types have the same place.
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
        // A regular expression's NULs make the bytes' order that of the pattern, then of the options.
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
    /// Compares bytes, then lengths.
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
