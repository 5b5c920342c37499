import BSON

/// A hash under which values that `BSONView.isEqual(_:to:of:)` calls equal are equal.
enum ValueHash {
    static func hash(_ element: BSONElement, of view: borrowing BSONView, depth: Int) throws(BSONError) -> UInt64 {
        guard depth < BSONView.maximumDepth else { throw BSONError(.tooDeep, at: element.valueOffset) }
        let type = TypeMask(element.type)
        if TypeMask.numbers.contains(type) { return hash(Number(element, of: view)) }
        // A string and a symbol of the same text are equal.
        let seed = mix(UInt64(bitPattern: Int64(element.type.sortPlace)))
        if element.type == .javascriptWithScope {
            // Fields of a scope may stand in any order: the code alone must do.
            return mix(
                seed
                    ^ hash(view.bytes, element.valueOffset + 4, try view.scope(element).start - element.valueOffset - 4)
            )
        }
        guard type == .object || type == .array else {
            return mix(seed ^ hash(view.bytes, element.valueOffset, element.valueLength))
        }
        let content = try view.document(element)
        var sum = seed
        var position = content.firstPosition
        while let child = try content.next(&position) {
            let value = try hash(child, of: content, depth: depth + 1)
            if type == .array {
                sum = mix(sum ^ value)
            } else {
                // Order must not matter.
                sum &+= mix(value ^ hash(content.bytes, child.nameOffset, child.nameLength))
            }
        }
        return mix(sum)
    }

    private static func hash(_ number: Number) -> UInt64 {
        if let integer = number.exactInt64 { return mix(UInt64(bitPattern: integer)) }
        guard let double = number.exactDouble else { return mix(0xDEC1_3A1B) }
        return mix(double.isNaN ? 0x7FF8 : double.bitPattern)
    }

    private static func hash(_ bytes: RawSpan, _ start: Int, _ length: Int) -> UInt64 {
        var result = mix(UInt64(length))
        var index = 0
        while index + 8 <= length {
            let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start + index, as: UInt64.self)
            result = mix(result ^ word)
            index += 8
        }
        while index < length {
            result = mix(result ^ UInt64(unsafe bytes.unsafeLoad(fromByteOffset: start + index, as: UInt8.self)))
            index += 1
        }
        return result
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        var result = (value ^ (value >> 32)) &* 0x9E37_79B9_7F4A_7C15
        result = (result ^ (result >> 29)) &* 0xBF58_476D_1CE4_E5B9
        return result ^ (result >> 32)
    }
}
