internal import Privileges

/// The privileges that all commands need, as a page of the reference.
enum PrivilegeTable {
    static var markdown: String {
        let commands = CommandNeeds.all.map { needs in
            let rows = needs.needs.map { need in
                "| \(need.actions.map { "`\($0)`" }.joined(separator: ", ")) | \(need.place.words) | \(need.purpose) | "
                    + "\(need.loss ?? "") |"
            }
            return """
                ## \(needs.command)

                | actions | on | what for | without it |
                | --- | --- | --- | --- |
                \(rows.joined(separator: "\n"))
                """
        }
        return """
            # Privileges

            What each command needs of a deployment with logins. `shipshape grants COMMAND FILE` prints it as a role.

            A command looks at its user's privileges before it begins. Where one is missing it ends with exit code 77, and
            says which action on which resource; what has an entry below *without it* it goes without. A schema that is
            `live` needs `listCollections` on the databases of its collections, too. `diff`, `lint` and `plan` ask a
            deployment only with `--uri`. A ledger is read unless `--ledger none` says that there is none, and by a job only
            where its steps may make documents unsyncable.

            \(commands.joined(separator: "\n\n"))
            """
    }
}

extension Place {
    /// The place in the words of the reference.
    fileprivate var words: String {
        switch self {
        case .data: "each collection of the schema or the job"
        case .database: "the databases of those collections"
        case .lookedUp: "collections that steps look up in"
        case .indexed: "collections that steps look up in by another field than `_id`"
        case .created: "collections that `extract` makes documents in"
        case .partner: "the partner"
        case .state: "the state database"
        case .jobs: "`jobs` in the state database"
        case .ranges: "`ranges` in the state database"
        case .ledger: "`unsynced_documents` in `__realm_sync` and `__realm_sync_<app id>`"
        case .watchLedger: "the ledger that the watch keeps"
        case .history: "the database that `--history db:NAME` names"
        case .oplog: "`local.oplog.rs`"
        case .cluster: "the cluster"
        }
    }
}
