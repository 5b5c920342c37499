public import BSON

/// A relation of a Prisma model: fields of a document that hold the key of a document of another model, or of its own.
///
/// Source: `one2m` in `query-engine/core/src/interpreter/query_interpreters/nested_read.rs` of prisma/prisma-engines at
/// 01725d31.
public struct PrismaRelation: Hashable, Sendable {
    /// The name of the relation's field in the schema.
    public var name: String
    /// The fields of the document that hold the key; in a relation with a list, one field that holds a list of keys.
    public var fields: [String]
    /// The collection of the related documents.
    public var target: Namespace
    /// The fields of the related documents that contain the key, in the order of ``fields``.
    public var references: [String]
    /// The BSON types that the client writes into ``references``, in the same order.
    public var types: [SchemaType]
    /// Whether a query that includes the relation fails if no document has the key.
    public var isRequired: Bool

    /// Whether both relations look up the same keys in the same way, whatever the relation is called.
    package func isEquivalent(to other: PrismaRelation) -> Bool {
        var other = other
        other.name = name
        return self == other
    }

    /// Returns the value of a field with a part of the key, as the client writes it into its query for the related
    /// document; `nil` if the client reads null, or does not read the value.
    ///
    /// The client converts the value that it reads to the type of the related document's field.
    /// - Parameter index: The position of the field in ``fields``.
    package func written(_ value: BSONValue, at index: Int) -> BSONValue? {
        switch (value, types[index]) {
        case (.string(let text), .objectId): return ObjectID(text).map { .objectID($0) }
        case (.objectID(let id), .string): return .string("\(id)")
        case (.binary(_, let bytes), .binData): return .binary(subtype: 0, bytes: bytes)
        case (.bool(let flag), .int), (.bool(let flag), .long): return .long(flag ? 1 : 0)
        case (.int, let type), (.long, let type), (.double, let type):
            return [.int, .long, .double].contains(type) ? value : Optional.none
        // A `nil` alone would be the null of BSON.
        case (_, let type): return "\(value.type)" == type.rawValue ? value : Optional.none
        }
    }
}

extension PrismaSchema {
    /// Returns the relations of a model whose keys are in the model's own documents.
    func relations(of model: Model, in database: String) -> [PrismaRelation] {
        model.fields.compactMap { field in
            guard case .relation(let name) = field.type, let relation = field.relation, !field.isIgnored,
                let target = self.model(name), !target.isIgnored
            else { return nil }
            let (keys, others) = (
                relation.fields.compactMap { model[$0] }, relation.references.compactMap { target[$0] }
            )
            guard !keys.isEmpty, keys.count == others.count, others.count == relation.references.count else {
                return nil
            }
            return PrismaRelation(
                name: field.name, fields: keys.map(\.documentName),
                target: Namespace(database: database, collection: target.collection),
                references: others.map(\.documentName), types: others.map { $0.keyType ?? .string },
                isRequired: field.arity == .required)
        }
    }
}

extension PrismaSchema.Field {
    fileprivate var documentName: String { isID ? "_id" : storedName }

    fileprivate var keyType: SchemaType? { if case .scalar(let scalar) = type { writtenType(of: scalar) } else { nil } }
}
