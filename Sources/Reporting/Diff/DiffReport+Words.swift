import BSON
import SchemaChange
import ServerSchema

extension DiffReport {
    /// The verdict on all changes together, in one line.
    var headline: String {
        guard let verdict else { return "Nothing changed from \(old) to \(new)." }
        let accepted = changes.count { acceptance(of: $0) != nil }
        let all =
            "\(changes.count.counted("change")) from \(old) to \(new)"
            + (accepted > 0 ? " (\(accepted.grouped) accepted)" : "")
        let rest = "\(all)\(weighed). "
        switch verdict {
        case .breaking: return "Breaking: \(count(of: .breaking).grouped) of \(rest)\(effectOfBreaking)"
        case .versioned: return "Versioned: \(rest)They are additive if you deploy them as a new schema version."
        case .served:
            return "Not breaking: \(rest)Partner collections serve \(count(of: .served).grouped) of them."
        case .nonBreaking:
            return switch dialect {
            case _ where isOfClient: "Not breaking: \(rest)The client reads what the validator accepts."
            case .appServices: "Not breaking: \(rest)All are additive."
            case .jsonSchema: "Not breaking: \(rest)Documents that conformed before still conform."
            case .prisma: "Not breaking: \(rest)Older and newer clients read each other's documents."
            }
        }
    }

    private var effectOfBreaking: String {
        if changes.allSatisfy({ $0.kind.verdict != .breaking || $0.code == .removedBeforeDay }) {
            return "Clients may still use what is removed."
        }
        let consequences = consequences
        return switch dialect {
        case .prisma: failingClients
        case .jsonSchema: "Documents that conformed before may be refused."
        case _ where consequences.contains(.terminate):
            "Sync must be terminated and re-enabled, and every client resets."
        case _ where consequences.contains(.someClientsReset): "Some clients reset."
        case .appServices: "A partner collection is not kept in sync with its original."
        }
    }

    /// The Prisma clients that cannot read documents of other clients: the older clients, the newer one, or both.
    private var failingClients: String {
        switch (worst(\.server), worst(\.client)) {
        case (.breaking, _) where changes.allSatisfy({ $0.kind.verdict != .breaking || $0.code == .uniqueAdded }):
            "Unique indexes of the newer schema refuse documents."
        case (.breaking, _) where isOfClient: "The client fails on documents that the validator accepts."
        case (.breaking, .breaking): "Older and newer clients do not read each other's documents."
        case (.breaking, _): "The newer client fails on documents that the older one wrote."
        default: olderClientsSentence
        }
    }

    /// A sentence that says whether older Prisma clients can read documents that the newer client writes.
    var olderClientsSentence: String {
        let count = changes.count { $0.client == .breaking }
        if count == 0 { return "Older clients read what the newer one writes." }
        return "Older clients fail on documents that the newer one writes (\(count.counted("change")))."
    }

    /// Returns a clause about the user's acceptance of a change, whether it is valid or has expired; `nil` if the user
    /// has not accepted it.
    func acceptanceWords(of change: SchemaChange) -> String? {
        func words(_ beginning: String, _ accepted: Acceptance) -> String {
            "\(beginning): \(accepted.reason) (\(accepted.owner), \(accepted.location))"
        }
        if let accepted = acceptance(of: change) {
            return words("Accepted\(accepted.expires.map { " until \($0)" } ?? "")", accepted)
        }
        return expiredAcceptance(of: change).map { words("The acceptance expired on \($0.expires ?? "-")", $0) }
    }

    private var weighed: String { source.map { ", with the documents of \($0) counted" } ?? "" }

    /// The places of the changes that a result lists.
    var listed: [Int] {
        changes.indices.sorted { (rank($0), $0) < (rank($1), $1) }.prefix(Report.mostListed).sorted()
    }

    /// A note on the changes that are only counted; empty if all are listed.
    var omission: [String] { Report.omission(of: changes.count, "change") }

    /// The changes of each collection, as indices into `changes`.
    ///
    /// The collection with the worst change comes first. In each collection, the worst change comes first.
    func groups(of indices: some Sequence<Int>) -> [(name: String, changes: [Int])] {
        let indices = Dictionary(grouping: indices, by: { changes[$0].namespace })
        let sorted = indices.map { namespace, indices in
            (namespace: namespace, changes: indices.sorted { (rank($0), $0) < (rank($1), $1) })
        }.sorted { left, right in
            let (first, other) = (rank(left.changes[0]), rank(right.changes[0]))
            return (first, left.namespace?.description ?? "") < (other, right.namespace?.description ?? "")
        }
        return sorted.map { ($0.namespace.map { "\($0)".printable } ?? "the app", $0.changes) }
    }

    /// Returns the rank of a change, from 0 for the most severe to 5 for the least severe.
    private func rank(_ index: Int) -> Int {
        switch (changes[index].server, changes[index].client) {
        case (.breaking, .breaking): 0
        case (.breaking, _): 1
        case (_, .breaking): 2
        case (.versioned, _), (_, .versioned): 3
        case (.served, _), (_, .served): 4
        case (.nonBreaking, .nonBreaking): 5
        }
    }

    /// Returns the document counts that matter for the change at an index; `nil` if no documents were counted for it.
    func weight(_ index: Int) -> String? {
        guard let weights else { return nil }
        return weights[index]?.words(for: changes[index])
    }
}

extension ChangeWeight {
    /// Returns the document counts that matter for the kind of `change`, such as the number of documents that lack its
    /// field.
    func words(for change: SchemaChange) -> String {
        if let refused {
            return
                "\(refused.grouped) of \(self.documents.documents) \(refused == 1 ? "is" : "are") refused by the index"
        }
        guard !change.oldPath.isRoot else { return self.documents.documents }
        let all = "of \(self.documents.documents)"
        switch change.code {
        case .requiredAdded, .optionalToRequired, .defaultAdded, .defaultChanged, .defaultRemoved:
            return "\(withoutField.grouped) \(all) "
                + (withoutField == 1 ? "lacks it or holds null" : "lack it or hold null")
        case .propertyRemoved, .removedBeforeDay, .propertyRenamed, .requiredToOptional, .queryableAdded,
            .queryableRemoved:
            return "\(withField.grouped) \(all) \(withField == 1 ? "holds" : "hold") this field"
        case .optionalAdded where withField == 0:
            return "0 \(all) hold a field of that name"
        default:
            let list = types.map { "\($0.type) \($0.documents.grouped)" }.joined(separator: ", ")
            return "\(withField.grouped) \(all) \(withField == 1 ? "holds" : "hold") this field"
                + (list.isEmpty ? "" : " (\(list))")
        }
    }
}

extension ChangeKind.Consequence {
    var words: String {
        switch self {
        case .terminate: "sync must be terminated and re-enabled"
        case .clientReset: "every client resets"
        case .someClientsReset: "clients that use it reset"
        case .resync: "the collection is resynced, and its changes wait until that is done"
        case .mayResync: "the collection may be resynced"
        case .unsyncedDocuments: "documents that do not conform stop syncing"
        case .refusedWrites: "writes of documents that do not conform are refused"
        case .clientMigration: "clients that have a local file need a higher schema version"
        case .catchUp: "devices first catch up with the history up to the change"
        case .failedIndex: "the index is not created while several documents have one value"
        case .failedQueries: "the newer client fails on documents that the older one wrote"
        case .failedOldClients: "older clients fail on documents that the newer one writes"
        case .changedValues: "clients read other values than those that were written"
        case .hiddenValues: "each client finds no values that the other one wrote"
        case .dataAccess: "functions, rules and the Data API validate against it"
        }
    }
}

extension ChangeKind {
    /// The consequences of this kind of change, as one sentence; empty if there are none.
    var consequenceWords: String {
        let words = consequences.map(\.words).joined(separator: "; ")
        return words.isEmpty ? "" : words.prefix(1).uppercased() + words.dropFirst() + "."
    }
}

extension ChangeKind.Source {
    /// The documentation or the rule from which the verdicts on a change follow, as one clause.
    var words: String {
        let basis = self.basis == .inferred ? "inferred: " : ""
        return basis + text + (quickReference.map { ", \"\($0)\"" } ?? "")
    }
}
