import BSON

/// Whether two values are the same: numbers by value across types, objects whatever their order, the rest by bytes.
///
/// Source: `semantics.md`, section 3.2.
enum ValueEquality {
    static func areEqual(
        _ left: BSONElement, of leftView: borrowing BSONView, _ right: BSONElement, of rightView: borrowing BSONView,
        depth: Int
    ) throws(BSONError) -> Bool {
        guard depth < BSONView.maximumDepth else { throw BSONError(.tooDeep, at: left.valueOffset) }
        let types = (TypeMask(left.type), TypeMask(right.type))
        if TypeMask.numbers.contains(types.0), TypeMask.numbers.contains(types.1) {
            return areEqual(Number(left, of: leftView), Number(right, of: rightView))
        }
        guard left.type == right.type else { return false }
        if types.0 == .object {
            return try areEqualObjects(leftView.document(left), rightView.document(right), depth: depth + 1)
        }
        if types.0 == .array {
            return try areEqualArrays(leftView.document(left), rightView.document(right), depth: depth + 1)
        }
        return areEqualBytes(
            leftView.bytes, left.valueOffset, left.valueLength, rightView.bytes, right.valueOffset, right.valueLength)
    }

    private static func areEqual(_ left: Number, _ right: Number) -> Bool {
        if let left = left.exactInt64, let right = right.exactInt64 { return left == right }
        if let left = left.exactDouble, let right = right.exactDouble {
            return left == right || left.isNaN && right.isNaN
        }
        if case .decimal(let left) = left, case .decimal(let right) = right {
            return (left.isNegative, left.coefficient, left.exponent)
                == (right.isNegative, right.coefficient, right.exponent) && left.kind == right.kind
        }
        return false
    }

    private static func areEqualArrays(
        _ left: borrowing BSONView, _ right: borrowing BSONView, depth: Int
    ) throws(BSONError) -> Bool {
        var positions = (left.firstPosition, right.firstPosition)
        while true {
            let elements = (try left.next(&positions.0), try right.next(&positions.1))
            guard let first = elements.0, let second = elements.1 else { return elements.0 == nil && elements.1 == nil }
            guard try areEqual(first, of: left, second, of: right, depth: depth) else { return false }
        }
    }

    /// Compares field by field; of a name that repeats, every occurrence needs its like on the other side.
    private static func areEqualObjects(
        _ left: borrowing BSONView, _ right: borrowing BSONView, depth: Int
    ) throws(BSONError) -> Bool {
        guard try contains(left, in: right, depth: depth) else { return false }
        return try contains(right, in: left, depth: depth)
    }

    private static func contains(
        _ part: borrowing BSONView, in whole: borrowing BSONView, depth: Int
    ) throws(BSONError) -> Bool {
        var position = part.firstPosition
        while let element = try part.next(&position) {
            var inner = whole.firstPosition
            var isThere = false
            while !isThere, let other = try whole.next(&inner) {
                guard
                    areEqualBytes(
                        part.bytes, element.nameOffset, element.nameLength, whole.bytes, other.nameOffset,
                        other.nameLength)
                else { continue }
                isThere = try areEqual(element, of: part, other, of: whole, depth: depth)
            }
            if !isThere { return false }
        }
        return true
    }

    private static func areEqualBytes(
        _ left: RawSpan, _ leftStart: Int, _ leftLength: Int, _ right: RawSpan, _ rightStart: Int, _ rightLength: Int
    ) -> Bool {
        guard leftLength == rightLength else { return false }
        for index in 0..<leftLength {
            let mine = unsafe left.unsafeLoad(fromByteOffset: leftStart + index, as: UInt8.self)
            let its = unsafe right.unsafeLoad(fromByteOffset: rightStart + index, as: UInt8.self)
            if mine != its { return false }
        }
        return true
    }
}
