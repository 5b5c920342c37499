import BSON

/// Computes hashes that are equal for values that `BSONView.isEqual(_:to:of:)` calls equal.
enum ValueHash {
    static func hash(_ element: BSONElement, of view: borrowing BSONView, depth: Int) throws(BSONError) -> UInt64 {
        guard depth < BSONView.maximumDepth else { throw BSONError(.tooDeep, at: element.valueOffset) }
        let type = TypeMask(element.type)
        if TypeMask.numbers.contains(type) { return hash(Number(element, of: view)) }
        // A string and a symbol of the same text are equal. The hash therefore uses the type's place in BSON's sort
        // order, which these types share, and not the type itself.
        let kind = mix(UInt64(bitPattern: Int64(element.type.sortPlace)))
        if element.type == .javascriptWithScope {
            let scope = try view.scope(element)
            let code = hash(view.bytes, element.valueOffset + 4, scope.start - element.valueOffset - 4)
            return mix(kind ^ code &+ (try hash(fieldsOf: scope, depth: depth + 1)))
        }
        guard type == .object || type == .array else {
            return mix(kind ^ hash(view.bytes, element.valueOffset, element.valueLength))
        }
        let content = try view.document(element)
        if type == .object { return mix(kind &+ (try hash(fieldsOf: content, depth: depth + 1))) }
        // The sum begins with the seed, because integers and doubles are hashed without it. If the sum began without
        // the seed, a user could write many arrays of numbers with equal hashes.
        var sum = kind ^ seed
        var position = content.firstPosition
        while let child = try content.next(&position) {
            sum = mix(sum ^ (try hash(child, of: content, depth: depth + 1)))
        }
        return mix(sum)
    }

    /// Returns the hash of an element whose value is the object in the view.
    static func hash(object view: borrowing BSONView) throws(BSONError) -> UInt64 {
        mix(mix(UInt64(bitPattern: Int64(BSONType.object.sortPlace))) &+ (try hash(fieldsOf: view, depth: 1)))
    }

    /// Returns the hash of the only value in a document; 0 if the value is damaged or nested too deeply.
    static func hash(onlyElementOf document: BSONDocument) -> UInt64 {
        let view = document.view
        var position = view.firstPosition
        do throws(BSONError) {
            guard let element = try view.next(&position) else { return 0 }
            return try hash(element, of: view, depth: 0)
        } catch { return 0 }
    }

    /// Returns a hash of an object's fields that does not depend on their order.
    private static func hash(fieldsOf view: borrowing BSONView, depth: Int) throws(BSONError) -> UInt64 {
        var sum: UInt64 = 0
        var position = view.firstPosition
        while let field = try view.next(&position) {
            let value = try hash(field, of: view, depth: depth)
            sum &+= mix(value ^ hash(view.bytes, field.nameOffset, field.nameLength))
        }
        return sum
    }

    private static func hash(_ number: Number) -> UInt64 {
        if let integer = number.exactInt64 { return mix(UInt64(bitPattern: integer)) }
        if let double = number.exactDouble { return mix(double.isNaN ? 0x7FF8 : double.bitPattern) }
        // A number that neither an integer nor a double can hold equals only a decimal of the same value, so it is
        // hashed by the parts of the decimal.
        guard case .decimal(let parts) = number else { return 0 }
        let low = mix(UInt64(truncatingIfNeeded: parts.coefficient) ^ seed)
        let high = UInt64(truncatingIfNeeded: parts.coefficient >> 64)
        return mix(low ^ high ^ UInt64(bitPattern: Int64(parts.exponent)) << 48 ^ (parts.isNegative ? 1 << 47 : 0))
    }

    /// The seed for hashing bytes and arrays, which differs in each process, so that no user can write many values with
    /// equal hashes.
    ///
    /// Integers and doubles are hashed without the seed, because different integers have different hashes, and so do
    /// different doubles.
    private static let seed = UInt64.random(in: 0 ... .max)

    private static func hash(_ bytes: RawSpan, _ start: Int, _ length: Int) -> UInt64 {
        var result = mix(UInt64(length) ^ seed)
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
