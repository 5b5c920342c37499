/// The kinds of change that apply, in special cases, in place of the usual kind of a change.
///
/// The cases are: the collection does not sync, the schemas are versioned, a partner collection exists for the changed
/// one, or the schema belongs to a validator.
extension ChangeKind {
    /// The kind that replaces this kind if the collection does not sync.
    ///
    /// Only functions, rules and the Data API use the schema of a collection that does not sync.
    var outsideSync: ChangeKind {
        guard verdict != .nonBreaking else { return self }
        return ChangeKind(
            code, server: .nonBreaking, client: .nonBreaking, then: [.dataAccess],
            .inferred("breaking changes affect only collections that sync"),
            do: "Nothing for sync: the collection does not sync. Check what functions and rules read and write.")
    }

    /// The kind that replaces this kind if schemas are versioned.
    ///
    /// Old clients then continue to work after removals, and after changes from optional to required or back. SDK
    /// releases and server notes of 2024 show this behavior, but no documentation states it.
    var versioned: ChangeKind {
        let codes: Set<SchemaChange.Code> = [.typeRemoved, .propertyRemoved, .optionalToRequired, .requiredToOptional]
        guard codes.contains(code), verdict == .breaking else { return self }
        let rest = consequences.filter { $0 != .terminate && $0 != .clientReset }
        return ChangeKind(
            code, server: .versioned, client: client == .breaking ? .versioned : client, then: rest,
            .inferred("schema versioning, seen in SDK releases of 2024 and never documented"),
            do: "Deploy it as a new schema version: clients keep the version that they were built with. Development "
                + "mode cannot do this.")
    }

    /// Returns the kind that replaces this kind if a partner collection makes the change unnecessary for the original.
    ///
    /// The partner has the documents as the new schema describes them, and the original collection keeps its schema.
    func served(by partner: PartnerCollection) -> ChangeKind {
        ChangeKind(
            code, server: .served, client: .served, then: [],
            .inferred("a partner collection, whose original keeps its schema"),
            do:
                "Keep the schema of \(partner.source), and give the new one to its partner \(partner.target), which "
                + "serves the change: \(partner.state) (job \(partner.name)).")
    }

    /// Returns the kind that replaces this kind if the change adds a partner collection.
    ///
    /// The verdict is `served`. While the partner is unverified, the verdict for clients is `breaking` instead, and the
    /// verdict for the server stays as it is.
    func added(as partner: PartnerCollection) -> ChangeKind {
        guard case .unverified(let reason) = partner.state else {
            return ChangeKind(
                code, server: .served, client: .served, then: [],
                .inferred("a partner collection, whose original keeps its schema"),
                do: "Nothing: \(partner) is \(partner.state).")
        }
        return ChangeKind(
            code, server: server, client: .breaking, then: [],
            .inferred("a partner collection that is not kept in sync with its original"),
            do:
                "Do not deploy it yet: clients of \(partner.source) and of its partner \(partner.target) would not see "
                + "each other's changes: \(reason) (job \(partner.name)).")
    }

    /// Returns the kind that replaces this kind in a `$jsonSchema` validator, which refuses writes and does not affect
    /// sync.
    /// - Parameter refusesMore: whether documents that fitted before might no longer fit.
    func ofValidator(refusesMore: Bool) -> ChangeKind {
        let verdict = refusesMore ? SchemaChange.Verdict.breaking : .nonBreaking
        return ChangeKind(
            code, server: verdict, client: verdict, then: refusesMore ? [.refusedWrites] : [],
            .inferred("MongoDB manual, $jsonSchema: what is written must conform"),
            do: refusesMore
                ? "Make the documents fit first. Deploy with validationAction warn, and change it to error once no "
                    + "warnings appear."
                : "Nothing: documents that conformed before still conform.")
    }

    /// The kind that replaces this kind of a validator if the newer one stands for what a Prisma client reads.
    var ofClient: ChangeKind {
        if [.uniqueAdded, .uniqueRemoved].contains(code) { return self }
        let fails = consequences.contains(.refusedWrites)
        return ChangeKind(
            code, server: server, client: .nonBreaking, then: fails ? [.failedQueries] : [],
            .inferred("what a Prisma client reads of the documents that a validator accepts"),
            do: fails
                ? "Make the documents fit before the client is deployed, and again once no other program writes others."
                : "Nothing: the client reads what the validator accepts.")
    }
}

extension PartnerCollection.State: CustomStringConvertible {
    /// A clause that says what is known about the state of the partner collection.
    public var description: String {
        switch self {
        case .verified(let time): "compared at \(time) without differences, and a mirror is running"
        case .cutOver(let time): "cut over at \(time)"
        case .unverified(let reason): reason
        }
    }
}
