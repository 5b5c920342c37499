extension BSONValue: Hashable {
    /// Whether two values are of one type and equal.
    ///
    /// A NaN is a NaN, as it is to the server, which lets it stand once as an `_id`: a set of `_id`s has to find it. Texts
    /// are compared by their bytes, as the server does: two spellings of é are two `_id`s.
    public static func == (left: BSONValue, right: BSONValue) -> Bool {
        switch (left, right) {
        case (.double(let one), .double(let two)): one == two || (one.isNaN && two.isNaN)
        case (.string(let one), .string(let two)): one.hasSameBytes(as: two)
        case (.invalidString(let one), .invalidString(let two)): one == two
        case (.object(let one), .object(let two)): one == two
        case (.array(let one), .array(let two)): one == two
        case (.binary(let one, let bytes), .binary(let two, let others)): one == two && bytes == others
        case (.objectID(let one), .objectID(let two)): one == two
        case (.bool(let one), .bool(let two)): one == two
        case (.date(let one), .date(let two)): one == two
        case (.regex(let one, let options), .regex(let two, let others)): one == two && options == others
        case (.dbPointer(let one, let id), .dbPointer(let two, let other)): one == two && id == other
        case (.javascript(let one), .javascript(let two)): one.hasSameBytes(as: two)
        case (.symbol(let one), .symbol(let two)): one.hasSameBytes(as: two)
        case (.javascriptWithScope(let one, let scope), .javascriptWithScope(let two, let other)):
            one == two && scope == other
        case (.int(let one), .int(let two)): one == two
        case (.timestamp(let one), .timestamp(let two)): one == two
        case (.long(let one), .long(let two)): one == two
        case (.decimal(let one), .decimal(let two)): one == two
        case (.undefined, .undefined), (.null, .null), (.minKey, .minKey), (.maxKey, .maxKey): true
        default: false
        }
    }

    /// Hashes type and content; the options, scopes and subtypes that few values have are left to `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        switch self {
        case .double(let number): hasher.combine(number.isNaN ? .nan : number)
        case .string(let text), .javascript(let text), .symbol(let text), .regex(let text, _), .dbPointer(let text, _),
            .javascriptWithScope(let text, _):
            for byte in text.utf8 { hasher.combine(byte) }
        case .object(let document), .array(let document): hasher.combine(document)
        case .binary(_, let bytes), .invalidString(let bytes): hasher.combine(bytes)
        case .objectID(let id): hasher.combine(id)
        case .bool(let value): hasher.combine(value)
        case .date(let number), .long(let number): hasher.combine(number)
        case .int(let number): hasher.combine(number)
        case .timestamp(let number): hasher.combine(number)
        case .decimal(let number): hasher.combine(number)
        case .undefined, .null, .minKey, .maxKey: break
        }
    }
}

extension String {
    fileprivate func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension BSONValue {
    /// Whether two values are the same in their bytes, as a NaN is to itself and 1 is not to 1.0.
    public func hasSameBytes(as other: BSONValue) -> Bool { BSONDocument([("", self)]) == BSONDocument([("", other)]) }
}
