internal import ArgumentParser
internal import BSON
internal import Checking
internal import ServerSchema
internal import SystemPackage

/// What the new schema is compared with, and which findings fail the check.
struct ComparisonFlags: ParsableArguments {
    /// The findings that end the program with 1.
    enum FailOn: String, ExpressibleByArgument, CaseIterable {
        case new, any, possible
    }

    @Option(
        help: ArgumentHelp(
            "The schema that is live now: tells documents that newly fail from those that fail already.",
            valueName: "schema"))
    var active: SchemaArgument?

    @Option(
        help: ArgumentHelp(
            "What ends the program with 1: new (documents that fit the active schema), any (all that do not sync), "
                + "possible (those that may not sync, too); default: new with --active, else any.",
            valueName: "new|any|possible"))
    var failOn: FailOn?

    func validate() throws {
        if failOn == .new, active == nil {
            throw ValidationError("--fail-on new needs --active: without the schema that is live now nothing is new")
        }
    }

    /// Which findings fail the check.
    /// - Parameter isStrict: whether those that may not sync do in any case.
    func policy(isStrict: Bool) -> FailurePolicy {
        let failOn = failOn ?? (active == nil ? .any : .new)
        return FailurePolicy(onlyNew: failOn == .new, includesPossible: isStrict || failOn == .possible)
    }

    /// Reads the active schema; `nil` when none is named.
    /// - Parameter collection: the only one to check.
    /// - Throws: ``SchemaError``; ``UsageError`` for a schema of the other dialect.
    func read(
        for new: ServerSchema, collection: Namespace?, connection: ConnectionFlags
    ) async throws -> ServerSchema? {
        guard let active else { return nil }
        let schema = try await read(active, for: new, collection: collection, connection: connection)
        guard schema.dialect == new.dialect else {
            throw UsageError(
                "--active \(active.name): that is \(Self.name(of: schema.dialect)), and SCHEMA is "
                    + "\(Self.name(of: new.dialect)): only schemas of one kind can be compared")
        }
        return schema
    }

    /// A dialect in words.
    static func name(of dialect: Dialect) -> String {
        switch dialect {
        case .appServices: "an App Services schema"
        case .jsonSchema: "a MongoDB validator"
        }
    }

    private func read(
        _ active: SchemaArgument, for new: ServerSchema, collection: Namespace?, connection: ConnectionFlags
    ) async throws -> ServerSchema {
        let only = collection ?? (new.collections.count == 1 ? new.collections[0].namespace : nil)
        if active.isLive { return try await active.read(namespace: only, connection: connection) }
        guard (try? FilePath(active.name).stat().type) == .directory else {
            return try await active.read(namespace: only, connection: connection)
        }
        // The whole folder: a collection that only the new schema covers is not an error here.
        var schema = try ServerSchema.read(at: active.name)
        if let collection { schema.narrow(to: collection) }
        return schema
    }
}
