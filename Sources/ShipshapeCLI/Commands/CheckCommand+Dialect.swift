internal import Checking
internal import Scanning
internal import ServerSchema

/// What a MongoDB validator makes of the flags: it has no limit, no ledger, no app and no links.
extension CheckCommand {
    /// Nothing stops because of documents that a validator would refuse.
    func limit(of schema: ServerSchema) -> Int { schema.dialect == .jsonSchema ? .max : limit }

    /// What was asked for in vain.
    func notes(for schema: ServerSchema) -> [String] {
        guard schema.dialect == .jsonSchema else { return [] }
        let asked = [
            ("--limit", limit != DeployVerdict.defaultLimit), ("--info", info),
            ("--mixed-collections", dialect.app.mixedCollections == .off), ("--null-types", dialect.nullTypes != nil),
            ("--include-asymmetric", dialect.includeAsymmetric), ("--follow-links", dialect.followLinks),
        ]
        return asked.filter(\.1).map { "\($0.0) changes nothing: the schema is a MongoDB validator" }
    }

    /// Where the ledger is; a validator has none, unless the operator names one.
    func location(for schema: ServerSchema) -> LedgerLocation {
        schema.dialect == .jsonSchema && ledger.ledger == nil ? .none : ledger.location
    }
}
