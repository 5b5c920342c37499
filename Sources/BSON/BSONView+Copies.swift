extension BSONView {
    /// A copy of the element's value.
    /// - Throws: ``BSONError`` when the value, at its own level, is damaged.
    public func value(_ element: BSONElement) throws(BSONError) -> BSONValue {
        switch element.type {
        case .double: .double(double(element))
        case .string: stringBytes(element).text
        case .object: .object(BSONDocument(copying: try document(element)))
        case .array: .array(BSONDocument(copying: try document(element)))
        case .binData:
            .binary(
                subtype: binarySubtype(element),
                bytes: bytes.extracting(element.valueOffset + 5..<element.valueOffset + element.valueLength).copied())
        case .undefined: .undefined
        case .objectId: .objectID(objectID(at: element.valueOffset))
        case .bool: .bool(bool(element))
        case .date: .date(milliseconds: int64(element))
        case .null: .null
        case .regex: try regex(element)
        case .dbPointer: dbPointer(element)
        case .javascript: .javascript(stringBytes(element).decoded())
        case .symbol: .symbol(stringBytes(element).decoded())
        case .javascriptWithScope: try javascriptWithScope(element)
        case .int: .int(int32(element))
        case .timestamp: .timestamp(UInt64(bitPattern: int64(element)))
        case .long: .long(int64(element))
        case .decimal: .decimal(decimal(element))
        case .minKey: .minKey
        case .maxKey: .maxKey
        default: throw BSONError(.unknownType, at: element.valueOffset)
        }
    }

    private func objectID(at offset: Int) -> ObjectID {
        let high = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        let low = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset + 8, as: UInt32.self)
        return ObjectID(high: UInt64(bigEndian: high), low: UInt32(bigEndian: low))
    }

    private func regex(_ element: BSONElement) throws(BSONError) -> BSONValue {
        let split = try terminator(from: element.valueOffset)
        let end = element.valueOffset + element.valueLength - 1
        return .regex(
            pattern: bytes.extracting(element.valueOffset..<split).decoded(),
            options: bytes.extracting(split + 1..<end).decoded())
    }

    private func dbPointer(_ element: BSONElement) -> BSONValue {
        let id = element.valueOffset + element.valueLength - 12
        return .dbPointer(
            bytes.extracting(element.valueOffset + 4..<id - 1).decoded(), objectID(at: id))
    }

    private func javascriptWithScope(_ element: BSONElement) throws(BSONError) -> BSONValue {
        let code = element.valueOffset + 4
        let scope = try scope(element)
        return .javascriptWithScope(
            bytes.extracting(code + 4..<scope.start - 1).decoded(), BSONDocument(copying: scope))
    }
}

extension RawSpan {
    /// The bytes as a text, or as they are where they are none.
    fileprivate var text: BSONValue {
        unsafe withUnsafeBytes { bytes in
            let text = unsafe String(validating: bytes, as: UTF8.self)
            return text.map { .string($0) } ?? .invalidString(unsafe Array(bytes))
        }
    }
}
