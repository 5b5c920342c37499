internal import BSON
internal import ServerSchema

/// Two versions of a schema that a command compares.
struct ComparedSchemas {
    let old: ServerSchema
    let new: ServerSchema
    /// The only collection that is of interest: the one that was asked for, or that of a single file.
    let only: Namespace?

    /// Reads both; a collection that only one of two folders has is a change, not an error.
    /// - Throws: ``UsageError`` for schemas of two kinds and for a collection that neither has; what reading throws.
    init(
        _ old: SchemaArgument, _ new: SchemaArgument, collection: String?, connection: ConnectionFlags
    ) async throws {
        let asked = collection.flatMap { Namespace($0) }
        var before = try await old.readWhole(fileIsOf: asked, connection: connection)
        var after = try await new.readWhole(fileIsOf: asked, connection: connection)
        guard before.dialect == after.dialect else {
            throw UsageError(
                "\(old.name) is \(ComparisonFlags.name(of: before.dialect)), and \(new.name) is "
                    + "\(ComparisonFlags.name(of: after.dialect)): only schemas of one kind can be compared")
        }
        // Of a whole deployment only what the other side speaks of is asked about.
        if old.isLive { before.collections.removeAll { after[$0.namespace] == nil } }
        if new.isLive { after.collections.removeAll { before[$0.namespace] == nil } }
        if let asked, before[asked] == nil, after[asked] == nil {
            let known = (before.collections + after.collections).map { "\($0.namespace)" }
            let hint = Spelling.hint(for: "\(asked)", among: known).map { " (\($0))" } ?? ""
            throw UsageError("--collection \(asked): neither \(old.name) nor \(new.name) has it\(hint)")
        }
        (self.old, self.new) = (before, after)
        only = asked ?? [before, after].first(where: \.isOneFile)?.collections.first?.namespace
    }
}
