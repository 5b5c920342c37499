import ServerSchema

/// The BSON values that an ObjectBox property can hold.
///
/// Source: the data mapping of objectbox-sync-docs, mongodb-sync-connector/mongodb-data-mapping.md.
struct PropertyValues {
    /// The BSON types of the values that the property holds.
    var types: TypeMask
    /// The BSON types of the elements that the property holds, if its values are arrays.
    var elements: TypeMask = .all
    /// The range of the whole numbers that the property holds; `nil` if it holds no whole numbers, or holds all of
    /// them.
    var range: ClosedRange<Int64>?

    fileprivate static func vector(_ elements: TypeMask) -> Self { Self(types: .array, elements: elements) }
    fileprivate static func integer(_ range: ClosedRange<Int64>) -> Self { Self(types: .integers, range: range) }
}

extension TypeMask {
    /// The types of `_id`s that ObjectBox can convert; a relation holds an `_id` of one of these types.
    fileprivate static var keys: Self { [.objectId, .binData, .string, .int, .long] }
}

extension ObjectBoxModel.Property {
    /// The values that the property holds; all values for a type that this program does not know.
    var values: PropertyValues {
        if isToMany { return .vector(.keys) }
        if let external = ExternalType(rawValue: externalType ?? 0) { return external.values }
        guard let type = PropertyType(rawValue: type) else { return PropertyValues(types: .all) }
        return type.values
    }

    /// The name of the property's type in ObjectBox's documentation, followed by the external type if it has one.
    var typeName: String {
        if isToMany { return "ToMany" }
        let name = PropertyType(rawValue: type)?.name ?? "\(type)"
        return name + (ExternalType(rawValue: externalType ?? 0).map { " (\($0.name))" } ?? "")
    }
}

/// The types of properties, by their numbers in a model file.
///
/// Source: objectbox-dart, objectbox/lib/src/modelinfo/enums.dart.
private enum PropertyType: Int {
    case bool = 1, byte, short, char, int, long, float, double, string, date, relation, dateNano, flex
    case boolVector = 22, byteVector, shortVector, charVector, intVector, longVector, floatVector, doubleVector,
        stringVector, dateVector, dateNanoVector

    var name: String {
        let name = "\(self)"
        return name.prefix(1).uppercased() + name.dropFirst()
    }

    var values: PropertyValues {
        switch self {
        case .bool: PropertyValues(types: .bool)
        case .byte: .integer(-128...127)
        case .short: .integer(-32_768...32_767)
        case .char: .integer(0...65_535)
        case .int: .integer(Int64(Int32.min)...Int64(Int32.max))
        case .long, .dateNano: PropertyValues(types: .integers)
        case .float, .double: PropertyValues(types: [.double, .int, .long])
        case .string: PropertyValues(types: .string)
        case .date: PropertyValues(types: .date)
        case .relation: PropertyValues(types: .keys)
        case .flex: PropertyValues(types: [.object, .array, .string, .bool, .int, .long, .double])
        case .byteVector: PropertyValues(types: .binData)
        case .boolVector: .vector(.bool)
        case .shortVector, .charVector, .intVector, .longVector, .dateNanoVector: .vector(.integers)
        case .floatVector, .doubleVector: .vector([.double, .int, .long])
        case .stringVector: .vector(.string)
        case .dateVector: .vector(.date)
        }
    }
}

/// The types of other systems, such as MongoDB, that a property can name, by their numbers in a model file.
///
/// Source: objectbox-java, io/objectbox/model/ExternalPropertyType.java.
private enum ExternalType: Int {
    case int128 = 100, uuid = 102, decimal128, uuidString, uuidV4, uuidV4String, flexMap, flexVector, json, bson,
        javaScript, jsonToNative
    case int128Vector = 116, uuidVector = 118
    case mongoId = 123, mongoIdVector, mongoTimestamp, mongoBinary, mongoRegex

    var name: String {
        let name = "\(self)"
        return name.prefix(1).uppercased() + name.dropFirst()
    }

    var values: PropertyValues {
        switch self {
        case .int128, .uuid, .uuidV4, .bson, .mongoBinary: PropertyValues(types: .binData)
        case .decimal128: PropertyValues(types: .decimal)
        case .uuidString, .uuidV4String, .json: PropertyValues(types: .string)
        case .flexMap: PropertyValues(types: .object)
        case .flexVector: PropertyValues(types: .array)
        case .javaScript: PropertyValues(types: .javascript)
        case .jsonToNative: PropertyValues(types: [.object, .array])
        case .int128Vector, .uuidVector: .vector(.binData)
        case .mongoId: PropertyValues(types: .objectId)
        case .mongoIdVector: .vector(.objectId)
        case .mongoTimestamp: PropertyValues(types: .timestamp)
        case .mongoRegex: PropertyValues(types: .regex)
        }
    }
}
