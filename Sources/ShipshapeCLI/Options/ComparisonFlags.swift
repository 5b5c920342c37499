internal import ArgumentParser
internal import BSON
internal import Check
internal import Checking
internal import Files
internal import SchemaChange
internal import ServerSchema
internal import SystemPackage

/// The findings that make a command exit with code 1.
enum FailOn: String, ExpressibleByArgument, CaseIterable {
    case new, any, breaking, none
}

/// The options for the active schema, with which the new schema is compared, and for the findings that fail the check.
struct ComparisonFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The schema that is live now, to separate new failures from documents that fail already. If it is SCHEMA "
                + "itself, the check says which documents fail now, and judges no deploy.",
            valueName: "schema"))
    var active: SchemaArgument?

    @Option(
        help: ArgumentHelp(
            "Which findings end the check with exit code 1: new (documents that fit the active schema), any (all "
                + "documents that do not sync), breaking (a breaking change, whatever the documents hold) or none; "
                + "default: new and breaking with --active, else any.",
            valueName: "new|any|breaking|none"))
    var failOn: FailOn?

    func validate() throws {
        guard active == nil, failOn == .new || failOn == .breaking else { return }
        throw ValidationError(
            "--fail-on \(failOn?.rawValue ?? "") needs --active: name the schema that is live now, with which the new "
                + "one is compared")
    }

    /// Reads the active schema and compares the new one with it, as `diff` does; `nil` if the operator names no active
    /// schema.
    /// - Parameters:
    ///   - read: the content of the new schema. If the new schema has a single collection, and the active schema is a
    ///     single file, the active schema describes that collection.
    ///   - collection: the only collection to check; `nil` for all.
    /// - Throws: errors of reading; ``RenameError``; ``UsageError`` if one of the two is an App Services schema, and
    ///   the other is not.
    func baseline(
        of new: SchemaArgument, _ read: ServerSchema, collection: String?,
        connection: ConnectionFlags
    ) async throws -> Baseline? {
        guard let active, !namesActive(new) else { return nil }
        let schema = try await self.read(
            active, for: read, collection: collection.flatMap { Namespace($0) }, connection: connection)
        // Documents that a Prisma client reads can fail under a validator, and the other way round.
        guard schema.dialect == read.dialect || !schema.dialect.isOfSync && !read.dialect.isOfSync else {
            throw UsageError(
                "--active \(active.name) is \(Self.name(of: schema.dialect)), but SCHEMA is "
                    + "\(Self.name(of: read.dialect)): only schemas of the same kind can be compared")
        }
        let only = read.collections.count == 1 ? read.collections[0].namespace : nil
        let compared = try await ComparedSchemas(
            active, new, collection: collection, fileIsOf: only, needsDatabase: true, connection: connection)
        return Baseline(
            schema: schema, path: active.name,
            change: try compared.diff(renames: Settings.current.renames, isVersioned: AppSettings.isVersioned))
    }

    /// Whether the operator states that a schema is the one that is live.
    func namesActive(_ schema: SchemaArgument) -> Bool {
        active.map { FilePath($0.name).lexicallyNormalized() == FilePath(schema.name).lexicallyNormalized() } ?? false
    }

    /// Returns which findings fail the check.
    /// - Parameters:
    ///   - isStrict: whether documents that might not sync fail the check in any case.
    ///   - schema: the checked schema; `nil` without a schema.
    func policy(isStrict: Bool, of schema: SchemaArgument?) -> FailurePolicy {
        let isCompared = active != nil && schema.map(namesActive) != true
        let documents: FailurePolicy.Documents =
            switch failOn {
            case .new: .new
            case .any: .all
            case .breaking, .none?: .none
            case nil: isCompared ? .new : .all
            }
        return FailurePolicy(
            documents: documents, includesPossible: isStrict, includesChange: failOn == nil || failOn == .breaking)
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
        _ active: SchemaArgument, for new: ServerSchema, collection: Namespace?, connection: ConnectionFlags
    ) async throws -> ServerSchema {
        let only = collection ?? (new.collections.count == 1 ? new.collections[0].namespace : nil)
        if active.isLive { return try await active.read(namespace: only, takesPrisma: true, connection: connection) }
        guard (try? FilePath(active.name).stat().type) == .directory else {
            // A Prisma schema in one file has all collections, like a folder, so the whole schema is read.
            if new.dialect == .prisma {
                return try await readWhole(active, narrowing: collection, connection)
            }
            return try await active.read(namespace: only, takesPrisma: true, connection: connection)
        }
        // The new schema may cover a collection that the active schema lacks. If only this collection were read, its
        // absence from the folder would be an error, so the whole folder is read.
        return try await readWhole(
            active, narrowing: collection ?? (new.isOneFile ? new.collections.first?.namespace : nil), connection)
    }

    private func readWhole(
        _ active: SchemaArgument, narrowing asked: Namespace?, _ connection: ConnectionFlags
    ) async throws -> ServerSchema {
        var schema = try await active.readWhole(fileIsOf: asked, takesPrisma: true, connection: connection)
        if let asked { schema.narrow(to: asked) }
        return schema
    }
}
