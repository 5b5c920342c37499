package import BSON
internal import FoundationEssentials

/// A Prisma schema for MongoDB: the models, embedded types and enums of one file or of a folder of files.
///
/// Source: the Prisma schema reference; `psl` in prisma/prisma-engines.
package struct PrismaSchema: Sendable {
    /// The models, in the order of the files.
    package internal(set) var models: [Model] = [] { didSet { indexes.models = NameIndex(count: models.count) } }
    /// The embedded types of the schema.
    package internal(set) var types: [Model] = [] { didSet { indexes.types = NameIndex(count: types.count) } }
    package internal(set) var enums: [Enumeration] = [] { didSet { indexes.enums = NameIndex(count: enums.count) } }
    /// Notes on the parts of the schema that this program ignores, such as views.
    package internal(set) var notes: [SchemaNote] = []
    /// The connection string of the datasource, or the variable that holds it; `nil` if the schema states neither.
    var url: URL?
    /// The `datasource` block; `nil` for a schema that was not read from files.
    var datasource: PrismaSyntax.Block?
    package let files: [SchemaSource]
    /// The indexes of long lists of names; `nil` for a short list.
    private var indexes: (models: NameIndex?, types: NameIndex?, enums: NameIndex?) = (nil, nil, nil)

    /// Reads the files of one schema.
    /// - Parameter files: the texts with their paths, which errors and locations state.
    /// - Throws: ``SchemaError``: the first error in the order of the files; its ``SchemaError/others`` are the other
    ///   errors.
    package init(files: [SchemaSource]) throws(SchemaError) {
        self.files = files
        var resolver = PrismaResolver()
        var isCut = false
        for file in files {
            var parser = PrismaParser(file.text, file: file.path)
            resolver.add(parser.blocks())
            resolver.errors += parser.errors
            isCut = resolver.isFull || parser.isFull
            if isCut { break }
        }
        // In files that were not read to their end, names may be missing, so only the errors so far are reported.
        if !isCut { resolver.resolve(into: &self) }
        if let error = SchemaError(resolver.errors, inOrderOf: files.map(\.path)) { throw error }
    }

    /// Creates a schema that was not read from files.
    package init(models: [Model], types: [Model] = [], enums: [Enumeration] = []) {
        files = []
        (self.models, self.types, self.enums) = (models, types, enums)
    }

    /// The place of the datasource's connection string.
    enum URL: Sendable {
        /// The connection string is in the schema itself.
        case text(String)
        /// The connection string is in the environment variable with this name.
        case variable(String)
    }

    /// A model, whose records are the documents of a collection; or an embedded type.
    package struct Model: Sendable {
        package var name: String
        /// The position of the model's or type's name in the file.
        package var location: SourceLocation
        /// The name of the model's collection; for an embedded type, the name of the type.
        package var collection: String
        /// The fields of the model or type, in the file's order.
        package var fields: [Field] = [] { didSet { index = NameIndex(count: fields.count) } }
        /// Whether the client leaves the model out (`@@ignore`).
        package var isIgnored = false
        /// The last lines of the model's text, after those that the other properties have: comments, and attributes
        /// such as `@@index([name])`.
        package var lastLines: [String] = []
        /// The attributes of the model as a whole, as the file has them.
        var attributes: [PrismaSyntax.Attribute] = []
        private var index: NameIndex?

        package init(name: String, location: SourceLocation, collection: String) {
            (self.name, self.location, self.collection) = (name, location, collection)
        }

        /// The field with this name in the schema; `nil` if the model or type has none.
        package subscript(name: String) -> Field? { fields.first(named: name, by: index, \.name) }
    }

    /// A field of a model or an embedded type.
    package struct Field: Sendable {
        package var name: String
        /// The position of the field's name in the file.
        package var location: SourceLocation
        package var storedName: String
        /// Whether ``storedName`` comes from `@map`.
        package var isMapped = false
        /// The type of the value, or of each element of a list.
        package var type: FieldType
        /// Whether the field has exactly one value, at most one, or a list of values.
        package var arity: Arity
        /// The native type, from `@db.…`, and its position.
        package var nativeType: (type: NativeType, location: SourceLocation)?
        /// The field's default, from `@default`; `nil` if it has none.
        package var defaultValue: Default?
        package var isID = false
        package var isUnique = false
        /// Whether the client leaves the field out (`@ignore`).
        package var isIgnored = false
        /// The arguments of `@relation`, for a field whose type is a model.
        package var relation: Relation?
        /// The `@deprecated` annotation of the field; `nil` if there is none.
        package var deprecation: Deprecation?
        /// A comment for the text of the schema; `nil` if there is none.
        package var comment: String?
        /// The arguments that the text has for ``isUnique``, in parentheses; empty if there are none.
        package var uniqueArguments = ""
        var attributes: [PrismaSyntax.Attribute] = []

        /// Creates a field whose name in the documents is `storedName`.
        package init(name: String, location: SourceLocation, storedName: String, type: FieldType, arity: Arity) {
            (self.name, self.location, self.storedName, self.type, self.arity) = (
                name, location, storedName, type, arity
            )
        }

        /// Whether documents contain the field, and the client reads it.
        package var isRead: Bool {
            switch type {
            case .relation, .unsupported: false
            case .scalar, .enumeration, .embedded: !isIgnored
            }
        }
    }

    /// Whether a field must have one value, may have one value, or has a list of values.
    package enum Arity: Sendable {
        case required, optional, list
    }

    package enum FieldType: Hashable, Sendable {
        case scalar(PrismaScalar)
        /// An enum, by its name.
        case enumeration(String)
        case embedded(String)
        /// A model, by its name; documents do not contain a field of this type.
        case relation(String)
        /// `Unsupported("…")`, which the client does not read.
        case unsupported
    }

    /// A native type, as in `@db.…`; the raw value is its name.
    package enum NativeType: String, CaseIterable, Sendable {
        case objectId = "ObjectId"
        case string = "String"
        case int = "Int"
        case long = "Long"
        case double = "Double"
        case bool = "Bool"
        case date = "Date"
        case timestamp = "Timestamp"
        case binData = "BinData"
        case json = "Json"
    }

    package enum Default: Hashable, Sendable {
        /// A constant, which the client also returns for a required field that is missing or null.
        case constant(BSONValue)
        /// The constant default of a list; the client writes it, but does not return it for a missing list.
        case list
        /// A function such as `now()` or `auto()`. The client writes its result, but does not return it for a missing
        /// field.
        case function(String)
    }

    package struct Relation: Sendable {
        /// The fields that hold the keys of related documents, in the model of the field with `@relation`.
        package var fields: [String] = []
        /// The fields of the related model to which ``fields`` refer, in the same order.
        package var references: [String] = []
        /// The name of the relation, which both of its fields state; `nil` if it has none.
        package var name: String?
    }

    package struct Enumeration: Sendable {
        package var name: String
        /// The position of the enum's name in the file.
        package var location: SourceLocation
        package var values: [Value] = [] { didSet { index = NameIndex(count: values.count) } }
        private var index: NameIndex?

        package init(name: String, location: SourceLocation, values: [Value] = []) {
            (self.name, self.location) = (name, location)
            self.values = values
        }

        /// The value with this name in the schema; `nil` if the enum has none.
        subscript(name: String) -> Value? { values.first(named: name, by: index, \.name) }

        package struct Value: Sendable {
            /// The name of the value in the schema, which programs use.
            package var name: String
            /// The position of the value's name in the file.
            package var location: SourceLocation
            package var storedName: String

            package init(name: String, location: SourceLocation, storedName: String) {
                (self.name, self.location, self.storedName) = (name, location, storedName)
            }
        }
    }
}

extension PrismaSchema {
    /// Returns the embedded type with this name; `nil` if the schema has none.
    package func type(_ name: String) -> Model? { types.first(named: name, by: indexes.types, \.name) }

    package func model(_ name: String) -> Model? { models.first(named: name, by: indexes.models, \.name) }

    /// Returns the enum with this name; `nil` if the schema has none.
    package func enumeration(_ name: String) -> Enumeration? {
        enums.first(named: name, by: indexes.enums, \.name)
    }
}

/// A scalar type that Prisma has for MongoDB; the raw value is its name.
public enum PrismaScalar: String, Hashable, CaseIterable, Sendable {
    case string = "String"
    case boolean = "Boolean"
    case int = "Int"
    case bigInt = "BigInt"
    case float = "Float"
    case dateTime = "DateTime"
    case bytes = "Bytes"
    case json = "Json"
}

extension PrismaSchema {
    /// The environment variable that the datasource names for its connection string; `nil` if it names none.
    package var variable: String? { if case .variable(let name)? = url { name } else { nil } }

    /// Returns the database in the path of the datasource's connection string; `nil` if the connection string is not
    /// known, or names no database.
    /// - Parameter file: the text of the file `.env`, as ``SchemaFiles/dotEnv`` returns it.
    func database(with file: () -> [String]) -> String? {
        if case .text(let text)? = url { return Self.database(of: text) }
        guard let variable else { return nil }
        if let text = ProcessInfo.processInfo.environment[variable] { return Self.database(of: text) }
        for line in file() {
            let parts = line.trimmed(Self.around).split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let name = parts[0].trimmed(Self.around)
            guard name == variable || name == "export \(variable)" else { continue }
            return Self.database(of: String(parts[1].trimmed(Self.around)))
        }
        return nil
    }

    /// The characters around the names and values of a file `.env`.
    private static let around: Set<Character> = [" ", "\t", "\r", "\"", "'"]

    /// Returns the database that a connection string names in its path; `nil` if it names none.
    package static func database(of url: String) -> String? {
        let parts = url.split(separator: "://", maxSplits: 1)
        guard parts.count == 2, let slash = parts[1].firstIndex(of: "/") else { return nil }
        let name = parts[1][parts[1].index(after: slash)...].prefix { $0 != "?" }
        return name.isEmpty ? nil : String(name)
    }
}

extension StringProtocol {
    fileprivate func trimmed(_ characters: Set<Character>) -> SubSequence {
        let start = drop(while: characters.contains).startIndex
        guard let last = lastIndex(where: { !characters.contains($0) }), start <= last else {
            return self[start..<start]
        }
        return self[start...last]
    }
}
