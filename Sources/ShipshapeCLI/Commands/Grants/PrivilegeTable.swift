internal import Privileges

/// The privileges that each command needs, as a page of the reference.
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

            The privileges that each command needs on a deployment with logins. `shipshape grants COMMAND FILE` prints
            them as a role.

            A command checks its user's privileges before it begins. If one is missing, it ends with exit code 77 and
            names the action and the resource. A privilege with an entry under *without it* is optional: the command \
            works
            without it, as the entry says. The schema `live` also needs `listCollections` on the databases of its
            collections. `diff`, `lint` and `plan OLD NEW` connect to a configured deployment only. A ledger is read
            unless the setting `ledger` is `none`; a job reads it only if its steps may make documents unsyncable.

            \(commands.joined(separator: "\n\n"))
            """
    }
}

extension Place {
    /// The name of the resource in the table of privileges, which is a page of the reference.
    fileprivate var words: String {
        switch self {
        case .data: "each collection of the schema or the job"
        case .database: "the databases of those collections"
        case .lookedUp: "collections in which steps look up documents"
        case .indexed: "collections in which steps look up documents by a field other than `_id`"
        case .created: "collections in which `extract` inserts documents"
        case .partner: "the partner"
        case .state: "the state database"
        case .jobs: "`jobs` in the state database"
        case .ranges: "`ranges` in the state database"
        case .ledger: "`unsynced_documents` in `__realm_sync` and `__realm_sync_<app id>`"
        case .watchLedger: "the ledger of the watch"
        case .failures: "the collection that `--failures db:NAME.COLLECTION` names"
        case .history: "the database that `--history db:NAME` names"
        case .oplog: "`local.oplog.rs`"
        case .cluster: "the cluster"
        }
    }
}
