import ServerSchema

/// The BSON values that an ObjectBox property can hold.
///
/// Source: the data mapping of objectbox-sync-docs, mongodb-sync-connector/mongodb-data-mapping.md.
struct PropertyValues: Sendable {
    /// The BSON types of the values that the property holds.
    var types: TypeMask
    /// The BSON types of the elements that the property holds, if its values are arrays.
    var elements: TypeMask = .all
    /// The range of the whole numbers that the property holds; `nil` if it holds no whole numbers, or holds all of
    /// them.
    var range: ClosedRange<Int64>?

    fileprivate static func of(_ types: TypeMask) -> Self { Self(types: types) }
    fileprivate static func vector(_ elements: TypeMask) -> Self { Self(types: .array, elements: elements) }
    fileprivate static func integer(_ range: ClosedRange<Int64>) -> Self { Self(types: .integers, range: range) }
}

extension TypeMask {
    /// The types of `_id`s that ObjectBox can convert; a relation holds an `_id` of one of these types.
    fileprivate static var keys: Self { [.objectId, .binData, .string, .int, .long] }
    fileprivate static var reals: Self { [.double, .int, .long] }
}

extension ObjectBoxModel.Property {
    private var external: (name: String, values: PropertyValues)? { externalTypes[externalType ?? 0] }

    /// The values that the property holds; all values for a type that this program does not know.
    var values: PropertyValues {
        isToMany ? .vector(.keys) : external?.values ?? propertyTypes[type]?.values ?? .of(.all)
    }

    /// The name of the property's type in ObjectBox's documentation, followed by the external type if it has one.
    var typeName: String {
        isToMany ? "ToMany" : (propertyTypes[type]?.name ?? "\(type)") + (external.map { " (\($0.name))" } ?? "")
    }
}

/// The types of properties, by their numbers in a model file.
///
/// Source: objectbox-dart, objectbox/lib/src/modelinfo/enums.dart.
private let propertyTypes: [Int: (name: String, values: PropertyValues)] = [
    1: ("Bool", .of(.bool)), 2: ("Byte", .integer(-128...127)), 3: ("Short", .integer(-32_768...32_767)),
    4: ("Char", .integer(0...65_535)), 5: ("Int", .integer(-2_147_483_648...2_147_483_647)),
    6: ("Long", .of(.integers)), 7: ("Float", .of(.reals)), 8: ("Double", .of(.reals)), 9: ("String", .of(.string)),
    10: ("Date", .of(.date)), 11: ("Relation", .of(.keys)), 12: ("DateNano", .of(.integers)),
    13: ("Flex", .of([.object, .array, .string, .bool, .int, .long, .double])), 22: ("BoolVector", .vector(.bool)),
    23: ("ByteVector", .of(.binData)), 24: ("ShortVector", .vector(.integers)), 25: ("CharVector", .vector(.integers)),
    26: ("IntVector", .vector(.integers)), 27: ("LongVector", .vector(.integers)),
    28: ("FloatVector", .vector(.reals)), 29: ("DoubleVector", .vector(.reals)),
    30: ("StringVector", .vector(.string)), 31: ("DateVector", .vector(.date)),
    32: ("DateNanoVector", .vector(.integers)),
]

/// The types of other systems, such as MongoDB, that a property can name, by their numbers in a model file.
///
/// Source: objectbox-java, io/objectbox/model/ExternalPropertyType.java.
private let externalTypes: [Int: (name: String, values: PropertyValues)] = [
    100: ("Int128", .of(.binData)), 102: ("Uuid", .of(.binData)), 103: ("Decimal128", .of(.decimal)),
    104: ("UuidString", .of(.string)), 105: ("UuidV4", .of(.binData)), 106: ("UuidV4String", .of(.string)),
    107: ("FlexMap", .of(.object)), 108: ("FlexVector", .of(.array)), 109: ("Json", .of(.string)),
    110: ("Bson", .of(.binData)), 111: ("JavaScript", .of(.javascript)), 112: ("JsonToNative", .of([.object, .array])),
    116: ("Int128Vector", .vector(.binData)), 118: ("UuidVector", .vector(.binData)), 123: ("MongoId", .of(.objectId)),
    124: ("MongoIdVector", .vector(.objectId)), 125: ("MongoTimestamp", .of(.timestamp)),
    126: ("MongoBinary", .of(.binData)), 127: ("MongoRegex", .of(.regex)),
]
