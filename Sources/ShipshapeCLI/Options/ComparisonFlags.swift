internal import ArgumentParser
internal import BSON
internal import Checking
internal import SchemaChange
internal import ServerSchema
internal import SystemPackage

/// The flags for the active schema, with which the new schema is compared, and for the findings that fail the check.
struct ComparisonFlags: ParsableArguments {
    /// The findings that make the command exit with code 1.
    enum FailOn: String, ExpressibleByArgument, CaseIterable {
        case new, any, possible, breaking
    }

    @Option(
        help: ArgumentHelp(
            "The schema that is live now, to separate new failures from documents that fail already.",
            valueName: "schema"))
    var active: SchemaArgument?

    @Option(
        help: ArgumentHelp(
            "Which findings end the check with exit code 1: new (documents that fit the active schema), any (all "
                + "documents that do not sync), possible (also those that might not sync), breaking (a breaking "
                + "change, whatever the documents hold); default: new and breaking with --active, else any.",
            valueName: "new|any|possible|breaking"))
    var failOn: FailOn?

    @Flag(
        help: ArgumentHelp(
            "For apps that deploy schema versions: count removals and changes between optional and required as "
                + "versioned, as diff does."))
    var schemaVersioning = false

    @OptionGroup(title: "Renames") var renames: RenameFlags

    func validate() throws {
        guard active == nil else { return }
        switch failOn {
        case .new:
            throw ValidationError("--fail-on new needs --active: without the schema that is live now, nothing is new")
        case .breaking:
            throw ValidationError(
                "--fail-on breaking needs --active: without the schema that is live now, nothing changes")
        case .any, .possible, nil: break
        }
        if schemaVersioning || !renames.rename.isEmpty {
            throw ValidationError("--rename and --schema-versioning need --active, the schema that changes")
        }
    }

    /// Reads the active schema and compares the new one with it, as `diff` does; `nil` if the operator names no active
    /// schema.
    /// - Parameters:
    ///   - read: the content of the new schema. If the new schema has a single collection, and the active schema is a
    ///     single file, the active schema describes that collection.
    ///   - collection: the only collection to check; `nil` for all.
    /// - Throws: errors of reading; ``RenameError``; ``UsageError`` for an active schema of another dialect.
    func baseline(
        of new: SchemaArgument, _ read: ServerSchema, collection: String?, database: DatabaseFlags,
        connection: ConnectionFlags
    ) async throws -> Baseline? {
        guard let active else { return nil }
        let schema = try await self.read(
            active, for: read, collection: collection.flatMap { Namespace($0) }, database: database,
            connection: connection)
        guard schema.dialect == read.dialect else {
            throw UsageError(
                "--active \(active.name) is \(Self.name(of: schema.dialect)), but SCHEMA is "
                    + "\(Self.name(of: read.dialect)): only schemas of the same kind can be compared")
        }
        let only = read.collections.count == 1 ? read.collections[0].namespace : nil
        let compared = try await ComparedSchemas(
            active, new, collection: collection, fileIsOf: only, database: database, connection: connection)
        return Baseline(
            schema: schema, path: active.name,
            change: try compared.diff(renames: try renames.read(), isVersioned: schemaVersioning))
    }

    /// Returns which findings fail the check.
    /// - Parameter isStrict: whether documents that might not sync fail the check in any case.
    func policy(isStrict: Bool) -> FailurePolicy {
        let documents: FailurePolicy.Documents =
            switch failOn {
            case .new: .new
            case .any, .possible: .all
            case .breaking: .none
            case nil: active == nil ? .all : .new
            }
        return FailurePolicy(
            documents: documents, includesPossible: isStrict || failOn == .possible,
            includesChange: failOn == nil || failOn == .breaking)
    }

    /// Returns a dialect in words.
    static func name(of dialect: Dialect) -> String {
        switch dialect {
        case .appServices: "an App Services schema"
        case .jsonSchema: "a MongoDB validator"
        case .prisma: "a Prisma schema"
        }
    }

    private func read(
        _ active: SchemaArgument, for new: ServerSchema, collection: Namespace?, database: DatabaseFlags,
        connection: ConnectionFlags
    ) async throws -> ServerSchema {
        let only = collection ?? (new.collections.count == 1 ? new.collections[0].namespace : nil)
        if active.isLive { return try await active.read(namespace: only, in: database, connection: connection) }
        guard (try? FilePath(active.name).stat().type) == .directory else {
            // A Prisma schema in one file has all collections, like a folder, so the whole schema is read.
            if new.dialect == .prisma {
                return try await readWhole(active, narrowing: collection, database, connection)
            }
            return try await active.read(namespace: only, in: database, connection: connection)
        }
        // The new schema may cover a collection that the active schema lacks. If only this collection were read, its
        // absence from the folder would be an error, so the whole folder is read.
        return try await readWhole(
            active, narrowing: collection ?? (new.isOneFile ? new.collections.first?.namespace : nil), database,
            connection)
    }

    private func readWhole(
        _ active: SchemaArgument, narrowing asked: Namespace?, _ database: DatabaseFlags, _ connection: ConnectionFlags
    ) async throws -> ServerSchema {
        var schema = try await active.readWhole(fileIsOf: asked, in: database, connection: connection)
        if let asked { schema.narrow(to: asked) }
        return schema
    }
}
