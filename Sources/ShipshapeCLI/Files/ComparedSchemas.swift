internal import BSON
internal import Check
internal import Files
internal import SchemaChange
internal import ServerSchema

/// Two versions of a schema that a command compares.
struct ComparedSchemas {
    let old: ServerSchema
    let new: ServerSchema
    /// The only collection to compare: that of `--collection` or of a schema in a single file; `nil` for all.
    let only: Namespace?
    /// Whether the old schema is of Prisma 6, and the new one a contract of Prisma 8.
    let isUpgrade: Bool
    private let names: (old: SchemaArgument, new: SchemaArgument)
    /// Notes on the comparison of two dialects.
    private var notes: [String] = []

    /// Reads both schemas.
    ///
    /// If only one of two folders has a collection, that is a change and not an error.
    /// - Parameters:
    ///   - only: the collection that a schema in a single file describes; not used if `collection` names one.
    ///   - needsDatabase: whether schemas that name only collections are refused if their database is unknown.
    /// - Throws: ``UsageError`` for schemas of two dialects and for a collection that neither schema has; errors of
    ///   reading.
    init(
        _ old: SchemaArgument, _ new: SchemaArgument, collection: String?, fileIsOf only: Namespace? = nil,
        needsDatabase: Bool, connection: ConnectionFlags
    ) async throws {
        let asked = collection.flatMap { Namespace($0) }
        func read(_ schema: SchemaArgument, orElse database: String?) async throws -> ServerSchema {
            try await schema.readWhole(
                fileIsOf: asked ?? only, takesPrisma: true, orElse: database, connection: connection)
        }
        // Only one of the two may be beside the file that names its database, for example not the one of a revision.
        var database = needsDatabase ? nil : "database"
        for schema in [old, new] {
            do {
                database = try await read(schema, orElse: nil).collections.first?.namespace.database
                break
            } catch let error as SchemaError where error.code == .databaseUnknown {}
        }
        var (before, after) = (try await read(old, orElse: database), try await read(new, orElse: database))
        isUpgrade = before.dialect == .prisma && after.isContract
        notes = before.bridge(to: &after, old.name, new.name)
        guard before.dialect == after.dialect else {
            throw UsageError(
                "\(old.name) is \(ComparisonFlags.name(of: before.dialect)), but \(new.name) is "
                    + "\(ComparisonFlags.name(of: after.dialect)): only schemas of the same kind can be compared")
        }
        // If one of the two schemas is that of a live deployment, it may have collections that the other schema does
        // not describe. These collections are not compared.
        if old.isLive { before.collections.removeAll { after[$0.namespace] == nil } }
        if new.isLive { after.collections.removeAll { before[$0.namespace] == nil } }
        if let asked, before[asked] == nil, after[asked] == nil {
            let known = (before.collections + after.collections).map { "\($0.namespace)" }
            let hint = Spelling.hint(for: "\(asked)", among: known).map { " (\($0))" } ?? ""
            throw UsageError("--collection \(asked): neither \(old.name) nor \(new.name) has it\(hint)")
        }
        // The models of two large schemas would take as much memory as what is compared.
        (before.prisma, after.prisma) = (nil, nil)
        (self.old, self.new, names) = (before, after, (old, new))
        self.only = asked ?? [before, after].first(where: \.isOneFile)?.collections.first?.namespace
    }

    /// Returns the changes from the old schema to the new one.
    /// - Parameter isVersioned: whether the app has versioned schemas.
    /// - Throws: ``RenameError`` for a rename that does not match the schemas.
    func diff(renames: [Rename], isVersioned: Bool) throws -> DiffReport {
        var changes = try SchemaDiff.changes(from: old, to: new, renames: renames, isVersioned: isVersioned)
        if let only { changes.removeAll { $0.namespace != only && $0.oldNamespace != only } }
        if let revision = GitRevision(names.new.name) {
            // GitHub shows annotations next to the repository's files, so the changes must have the paths of these
            // files.
            for index in changes.indices {
                if let file = changes[index].place?.file { changes[index].place?.file = revision.path(of: file) }
            }
        }
        var report = DiffReport(
            old: names.old.name, new: names.new.name, dialect: new.spokenDialect, changes: changes,
            removed: Settings.current.file.removed, renames: renames)
        (report.isOfClient, report.notes) = (new.isOfClient, report.notes + notes)
        if names.old.isLive || names.new.isLive, only == nil {
            report.notes.append("live validators are compared only for collections that both sides have")
        }
        return report
    }
}
