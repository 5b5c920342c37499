internal import ArgumentParser
internal import BSON
internal import Concurrency
internal import Files
internal import Foundation
internal import Mongo
internal import Scanning
internal import ServerSchema
internal import SystemPackage

/// A schema that the operator names by a path, by a path in a git revision, or by `live`.
struct SchemaArgument: ExpressibleByArgument {
    /// The argument as the operator wrote it; `nil` if the command line has none.
    private let text: String?

    init(argument: String) { text = argument }

    private init() { text = nil }

    /// The schema that `shipshape.yml` names, as the default of an argument.
    static let configured = SchemaArgument()

    var defaultValueDescription: String { text ?? "schema in \(ConfigurationFile.standardName)" }

    /// The path, `REVISION:PATH`, or `live`; empty if neither the command line nor `shipshape.yml` names a schema.
    var name: String { text ?? Settings.current.file.schema ?? "" }

    var isGiven: Bool { text != nil }

    /// Refuses a command line without a schema, if `shipshape.yml` names none either.
    /// - Throws: ``UsageError``.
    func checkNamed(for command: String) throws {
        guard name.isEmpty else { return }
        throw UsageError(
            "no schema is named: give one (shipshape \(command) SCHEMA), or write schema: PATH into "
                + "\(ConfigurationFile.standardName) (shipshape init writes it)")
    }

    static var defaultCompletionKind: CompletionKind { .file() }

    /// Whether the argument means the validators that the collections have now; a file of that name is `./live`.
    var isLive: Bool { name == LiveSchema.name }

    /// Reads the schema.
    /// - Parameters:
    ///   - namespace: the collection that a single file describes. For a folder, a Prisma schema or `live`, the only
    ///     collection that the caller asks for; `nil` for all collections.
    ///   - takesPrisma: whether the command takes Prisma schemas.
    /// - Throws: ``SchemaError``; ``UsageError`` for a Prisma schema that the command does not take; ``InputError`` for
    ///   a revision that cannot be read; errors of connecting.
    func read(
        namespace: Namespace?, takesPrisma: Bool = false, connection: ConnectionFlags
    ) async throws -> ServerSchema {
        if isLive { return try await readLive(namespace: namespace, connection: connection) }
        let name = takesPrisma ? databaseName(namespace, connection) : namespace?.database ?? "database"
        return try await reading(takesPrisma) {
            try ServerSchema.read(at: $0, named: self.name, namespace: namespace, database: name)
        }
    }

    /// Reads all parts of the schema that lint checks.
    /// - Throws: as ``read(namespace:in:connection:)`` does.
    func readForLint(
        namespace: Namespace?, connection: ConnectionFlags
    ) async throws -> ServerSchema {
        if isLive { return try await readLive(namespace: namespace, connection: connection) }
        let name = databaseName(namespace, connection)
        return try await reading(true) { path in
            try Self.orElse("database", name) {
                try ServerSchema.readForLint(at: path, named: self.name, namespace: namespace, database: $0)
            }
        }
    }

    /// Calls `read` with the name of the database, or with another name if a schema that names only collections needs
    /// one.
    private static func orElse(
        _ other: String?, _ name: String?, _ read: (String?) throws -> ServerSchema
    ) throws -> ServerSchema {
        do { return try read(name) } catch let error as SchemaError where error.code == .databaseUnknown && other != nil
        {
            return try read(other)
        }
    }

    /// Reads all collections of a folder or a Prisma schema, or one file.
    /// - Parameters:
    ///   - namespace: the collection that a single file describes.
    ///   - other: the database of a schema that names only collections, if it is unknown; `nil` to refuse the schema.
    /// - Throws: as ``read(namespace:in:connection:)`` does.
    func readWhole(
        fileIsOf namespace: Namespace?, takesPrisma: Bool = false, orElse other: String? = nil,
        connection: ConnectionFlags
    ) async throws -> ServerSchema {
        if isLive { return try await readLive(namespace: namespace, connection: connection) }
        let name = takesPrisma ? databaseName(namespace, connection) : namespace?.database ?? "database"
        return try await reading(takesPrisma) { path in
            let isWhole = path.hasSuffix(".prisma") || (try? FilePath(path).stat().type) == .directory
            func read(_ database: String?) throws -> ServerSchema {
                try .read(at: path, named: self.name, namespace: isWhole ? nil : namespace, database: database)
            }
            return try Self.orElse(other, name, read)
        }
    }

    /// Returns the database of a schema that names only collections: that of the named collection, else the setting,
    /// else that of the connection string; `nil` if the schema itself has to name it.
    private func databaseName(_ namespace: Namespace?, _ connection: ConnectionFlags) -> String? {
        namespace?.database ?? Settings.current.database
    }

    /// Calls `read` with the path of the schema or, for a git revision, of a copy, which is removed afterwards.
    private func reading(
        _ takesPrisma: Bool, _ read: (String) throws -> ServerSchema
    ) async throws -> ServerSchema {
        let schema = if let revision = GitRevision(name) { try await revision.checkedOut(read) } else { try read(name) }
        if schema.dialect == .prisma, !takesPrisma {
            throw UsageError("\(name) is a Prisma schema: this command is for App Services schemas and validators")
        }
        return schema
    }

    private func readLive(namespace: Namespace?, connection: ConnectionFlags) async throws -> ServerSchema {
        let pool = try connection.pool()
        return try await onOwnedThread(name: "schema") { () throws in
            try LiveSchema.read(from: try pool.client(), namespace: namespace)
        }
    }
}

extension SchemaArgument {
    /// Returns the schema's path relative to a folder; `nil` for `live` and for a schema in a git revision, because
    /// neither is a file or folder on disk.
    func path(from folder: FilePath) -> String? {
        guard !isLive, (try? FilePath(name).stat()) != nil else { return nil }
        return Self.path(of: FilePath(name), from: folder)
    }

    static func path(of file: FilePath, from folder: FilePath) -> String {
        let here = FilePath(FileManager.default.currentDirectoryPath)
        let (target, home) = (here.pushing(file).lexicallyNormalized(), here.pushing(folder).lexicallyNormalized())
        var (rest, up) = (Array(target.components)[...], Array(home.components)[...])
        while let first = rest.first, first == up.first { (rest, up) = (rest.dropFirst(), up.dropFirst()) }
        let steps = up.map { _ in ".." } + rest.map(\.string)
        return steps.isEmpty ? "." : steps.joined(separator: "/")
    }
}
