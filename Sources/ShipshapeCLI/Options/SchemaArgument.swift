internal import ArgumentParser
internal import BSON
internal import Concurrency
internal import Foundation
internal import Mongo
internal import Scanning
internal import ServerSchema
internal import SystemPackage

/// A schema that the operator names by a path, by a path in a git revision, or by `live`.
struct SchemaArgument: ExpressibleByArgument {
    /// The argument; `nil` if the command line has none.
    private let text: String?

    init(argument: String) { text = argument }

    private init() { text = nil }

    /// The schema that `shipshape.yml` names, as the default of an argument.
    static let configured = SchemaArgument()

    var defaultValueDescription: String { text ?? "schema in \(ConfigurationFile.standardName)" }

    /// The path, `REVISION:PATH`, or `live`; empty if neither the command line nor `shipshape.yml` names a schema.
    var name: String { text ?? Settings.current.file.schema ?? "" }

    /// Refuses a command line without a schema, if `shipshape.yml` names none either.
    /// - Throws: ``UsageError``.
    func checkNamed(for command: String) throws {
        guard name.isEmpty else { return }
        throw UsageError(
            "no schema is named: give one (shipshape \(command) SCHEMA), or write schema: PATH into "
                + "\(ConfigurationFile.standardName) (shipshape init writes it)")
    }

    static var defaultCompletionKind: CompletionKind { .file() }

    /// Whether the argument means the validators that the collections have now.
    ///
    /// A folder of that name is written as `./live`.
    var isLive: Bool { name == LiveSchema.name }

    /// Reads the schema.
    /// - Parameter namespace: the collection that a single file describes; of a folder, the only collection to read.
    /// - Throws: ``SchemaError``; ``InputError`` for a revision that cannot be read; errors of connecting.
    func read(namespace: Namespace?, connection: ConnectionFlags) async throws -> ServerSchema {
        if isLive { return try await readLive(namespace: namespace, connection: connection) }
        return try await reading { try ServerSchema.read(at: $0, named: name, namespace: namespace) }
    }

    /// Reads all parts of the schema that lint checks.
    /// - Throws: as ``read(namespace:connection:)`` does.
    func readForLint(namespace: Namespace?, connection: ConnectionFlags) async throws -> ServerSchema {
        if isLive { return try await readLive(namespace: namespace, connection: connection) }
        return try await reading { try ServerSchema.readForLint(at: $0, named: name, namespace: namespace) }
    }

    /// Reads all collections of a folder, or one file.
    /// - Parameter namespace: the collection that a single file describes.
    /// - Throws: as ``read(namespace:connection:)`` does.
    func readWhole(fileIsOf namespace: Namespace?, connection: ConnectionFlags) async throws -> ServerSchema {
        if isLive { return try await readLive(namespace: namespace, connection: connection) }
        return try await reading { path in
            let isFolder = (try? FilePath(path).stat().type) == .directory
            return try ServerSchema.read(at: path, named: name, namespace: isFolder ? nil : namespace)
        }
    }

    /// Calls `read` with the path of the schema; for a git revision, with that of a copy, which is removed afterwards.
    private func reading(_ read: (String) throws -> ServerSchema) async throws -> ServerSchema {
        guard let revision = GitRevision(name) else { return try read(name) }
        return try await revision.checkedOut(read)
    }

    private func readLive(namespace: Namespace?, connection: ConnectionFlags) async throws -> ServerSchema {
        let pool = try connection.pool()
        return try await onOwnedThread(name: "schema") { () throws in
            try LiveSchema.read(from: try pool.client(), namespace: namespace)
        }
    }
}

extension SchemaArgument {
    /// Returns the schema's path relative to a folder; `nil` if it is no file or folder that a job could name.
    func path(from folder: FilePath) -> String? {
        guard !isLive, (try? FilePath(name).stat()) != nil else { return nil }
        return Self.path(of: FilePath(name), from: folder)
    }

    /// Returns a path relative to a folder.
    static func path(of file: FilePath, from folder: FilePath) -> String {
        let here = FilePath(FileManager.default.currentDirectoryPath)
        let (target, home) = (here.pushing(file).lexicallyNormalized(), here.pushing(folder).lexicallyNormalized())
        var (rest, up) = (Array(target.components)[...], Array(home.components)[...])
        while let first = rest.first, first == up.first { (rest, up) = (rest.dropFirst(), up.dropFirst()) }
        let steps = up.map { _ in ".." } + rest.map(\.string)
        return steps.isEmpty ? "." : steps.joined(separator: "/")
    }
}
