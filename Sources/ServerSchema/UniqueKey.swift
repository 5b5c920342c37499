public import BSON

/// A unique index that the deploy of a schema creates, or that the user wants to create.
///
/// An index of Prisma has neither options nor a filter. Source: `schema_calculator.rs` and `migration_step_applier.rs`
/// of the MongoDB schema connector in prisma/prisma-engines at 0a9267bf.
public struct UniqueKey: Hashable, Sendable {
    /// The paths in the documents that the index covers, in the order of the index, such as `address.number`.
    public var paths: [String]
    /// The name of the index.
    public var name: String
    /// Whether the index leaves out documents in which all paths are missing.
    public var isSparse = false
    /// The collation by which the index compares texts; `nil` for the collation of the collection.
    public var collation: BSONDocument?
    /// The filter of the documents that the index covers; `nil` for all documents.
    public var filter: BSONDocument?
    /// The position of the key in the schema's file.
    public var location: SourceLocation

    /// Creates the key of an index of all documents.
    /// - Parameter name: The name of the index; `nil` for the name that Prisma gives to it.
    public init(paths: [String], name: String? = nil, of collection: String, location: SourceLocation) {
        self.paths = paths
        self.name = name ?? PrismaIndex.name(paths, isUnique: true, of: collection)
        self.location = location
    }

    /// The path of findings about the index: its first path.
    public var path: SchemaPath { SchemaPath((paths.first ?? "").split(separator: ".").map { .field(String($0)) }) }

    /// The paths as reports show them, such as `email, tenant`.
    public var words: String { paths.joined(separator: ", ") }

    /// Whether two indexes accept and refuse the same documents.
    public func isSame(as other: UniqueKey) -> Bool {
        paths == other.paths && isSparse == other.isSparse && collation == other.collation && filter == other.filter
    }
}

extension CollectionSchema {
    /// Creates a schema that states unique indexes and nothing else.
    package init(_ keys: [UniqueKey], of namespace: Namespace) {
        self.init(namespace: namespace, root: SchemaNode(location: SourceLocation(whole: "")), dialect: .jsonSchema)
        uniqueKeys = keys
    }
}

extension PrismaSchema {
    /// Returns the unique indexes of a model, by the stored names of its fields.
    ///
    /// An index of the `@id` alone is left out, and so is one that names an unknown field, which `lint` reports.
    func uniqueKeys(of model: Model) -> [UniqueKey] {
        PrismaIndex.all(of: model).filter(\.isUnique).compactMap { index in
            let paths = index.fields.compactMap {
                storedPath($0.path.split(separator: ".").map(String.init)[...], of: model)
            }
            guard paths.count == index.fields.count, !paths.isEmpty, paths != ["_id"] else { return nil }
            return UniqueKey(
                paths: paths, name: index.text("map"), of: model.collection, location: index.attribute.name.location)
        }
    }

    private func storedPath(_ names: ArraySlice<String>, of model: Model) -> String? {
        guard let name = names.first, let field = model[name] else { return nil }
        let stored = field.isID ? "_id" : field.storedName
        guard names.count > 1 else { return stored }
        guard case .embedded(let inner) = field.type, let type = type(inner) else { return nil }
        return storedPath(names.dropFirst(), of: type).map { "\(stored).\($0)" }
    }
}
