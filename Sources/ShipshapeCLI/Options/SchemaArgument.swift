internal import ArgumentParser
internal import BSON
internal import Foundation
internal import Mongo
internal import Scanning
internal import ServerSchema
internal import SystemPackage

/// A schema as the operator names it: a path, or `live`.
struct SchemaArgument: ExpressibleByArgument {
    /// The path, or `live`.
    let name: String

    init(argument: String) { name = argument }

    /// Whether it stands for the validators that the collections carry now; a folder of that name is `./live`.
    var isLive: Bool { name == LiveSchema.name }

    /// Reads the schema.
    /// - Parameter namespace: the collection that a single file covers; else the only one to read.
    /// - Throws: ``SchemaError``, or what connecting throws.
    func read(namespace: Namespace?, connection: ConnectionFlags) async throws -> ServerSchema {
        guard isLive else { return try ServerSchema.read(at: name, namespace: namespace) }
        return try await readLive(namespace: namespace, connection: connection)
    }

    /// Reads all that lint looks at.
    /// - Throws: as ``read(namespace:connection:)`` does.
    func readForLint(namespace: Namespace?, connection: ConnectionFlags) async throws -> ServerSchema {
        guard isLive else { return try ServerSchema.readForLint(at: name, namespace: namespace) }
        return try await readLive(namespace: namespace, connection: connection)
    }

    private func readLive(namespace: Namespace?, connection: ConnectionFlags) async throws -> ServerSchema {
        let pool = try connection.pool()
        return try await onOwnedThread(name: "schema") { () throws in
            try LiveSchema.read(from: try pool.client(), namespace: namespace)
        }
    }
}

extension SchemaArgument {
    /// Where the schema is, as seen from a folder; `nil` when it is no file or folder that a job could name.
    func path(from folder: FilePath) -> String? {
        guard !isLive, (try? FilePath(name).stat()) != nil else { return nil }
        let here = FilePath(FileManager.default.currentDirectoryPath)
        let (target, home) = (
            here.pushing(FilePath(name)).lexicallyNormalized(), here.pushing(folder).lexicallyNormalized()
        )
        var (rest, up) = (Array(target.components)[...], Array(home.components)[...])
        while let first = rest.first, first == up.first { (rest, up) = (rest.dropFirst(), up.dropFirst()) }
        let steps = up.map { _ in ".." } + rest.map(\.string)
        return steps.isEmpty ? "." : steps.joined(separator: "/")
    }
}
