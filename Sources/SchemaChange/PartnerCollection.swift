public import BSON
internal import ServerSchema

/// A partner: a second collection, which holds the documents of another collection (the original) in the shape of the
/// next schema.
public struct PartnerCollection: Hashable, Sendable {
    /// The name of the partner job.
    public var name: String
    /// The original, which is the collection that existed first.
    public var source: Namespace
    /// The partner, which holds the same documents in the new shape.
    public var target: Namespace
    /// The paths, as job files write them, at which the partner's documents may differ from the original's.
    public var places: Set<String>
    /// The state of the partner.
    public var state: State

    /// The state of a partner, which decides whether a change may rely on the partner.
    public enum State: Hashable, Sendable {
        /// The partner is equal to the original: a comparison at the given time found no difference, and a mirror is
        /// running.
        ///
        /// The comparison is recent enough for a cutover.
        case verified(ServerTime)
        /// The partner was cut over at the given time, so the original has no more clients.
        case cutOver(ServerTime)
        /// No schema change may rely on the partner; the clause says why, and what the operator can do.
        case unverified(String)
    }

    /// Creates a partner from its parts.
    public init(name: String, source: Namespace, target: Namespace, places: Set<String>, state: State) {
        (self.name, self.source, self.target) = (name, source, target)
        (self.places, self.state) = (places, state)
    }
}

extension PartnerCollection {
    /// Whether a change of the original collection is breaking or versioned, so that the partner should serve it.
    ///
    /// The removal of the original's type does not count: a partner cannot serve it, because the original then has no
    /// schema to keep.
    func isAffected(by change: SchemaChange) -> Bool {
        (change.oldNamespace ?? change.namespace) == source && change.kind.verdict >= .versioned
            && change.code != .typeRemoved
    }

    /// Whether the partner's job converts documents as a schema change requires; the original's documents then stay as
    /// they are.
    func carries(_ change: SchemaChange) -> Bool {
        if change.path.isRoot { return [.typeRenamed, .collectionMoved].contains(change.code) }
        return [change.oldPath, change.path].map(\.jobNames).contains { names in
            places.contains { place in
                zip(place.split(separator: "."), names).allSatisfy { $0 == $1 }
            }
        }
    }
}

extension PartnerCollection: CustomStringConvertible {
    /// The partner's collections and its job, for messages.
    public var description: String { "the partner \(target) of \(source) (job \(name))" }
}

extension SchemaPath {
    /// The steps of the path as job files write them: the names of fields, and `[]`.
    fileprivate var jobNames: [String] {
        steps.map { step in
            switch step {
            case .field(let name): name
            case .elements, .values: "[]"
            }
        }
    }
}

extension [SchemaChange] {
    /// Sets the verdicts of the changes that add partner collections.
    ///
    /// The verdict is `served`. While the partner is unverified, the verdict for clients is `breaking` instead. A
    /// change of the original collection keeps its verdict, because a partner helps only if the original keeps its
    /// schema.
    /// - Returns: clauses about the changes that partners do not serve, each with the reason.
    package mutating func serve(by partners: [PartnerCollection]) -> [String] {
        for partner in partners {
            for index in indices where self[index].code == .typeAdded && self[index].namespace == partner.target {
                self[index].kind = self[index].kind.added(as: partner)
                self[index].partner = partner
            }
        }
        return partners.flatMap { partner in
            notes(on: partner) { carried in
                "\(partner) does not serve the change of \(carried) in \(partner.source) itself: keep the schema of "
                    + "\(partner.source), and add the new one as \(partner.target)"
            }
        }
    }

    /// Marks the changes that a partner collection serves.
    ///
    /// A partner serves a change if it is verified or cut over, and if its job converts documents as the change
    /// requires.
    ///
    /// A served change requires no change of any document, as long as the original collection keeps its schema.
    /// - Returns: clauses about the changes that partners do not serve, each with the reason.
    package mutating func carry(by partners: [PartnerCollection]) -> [String] {
        for partner in partners {
            if case .unverified = partner.state { continue }
            for index in indices where partner.isAffected(by: self[index]) && partner.carries(self[index]) {
                self[index].kind = self[index].kind.served(by: partner)
                self[index].partner = partner
            }
        }
        return partners.flatMap { notes(on: $0) { _ in nil } }
    }

    /// Returns clauses about the breaking or versioned changes of a partner's original collection.
    /// - Parameter carried: receives the paths of the changes for which the partner's job converts documents, and
    ///   returns a clause about these changes; `nil` for no clause.
    private func notes(on partner: PartnerCollection, _ carried: (_ places: String) -> String?) -> [String] {
        let affected = filter { partner.isAffected(by: $0) }
        guard !affected.isEmpty else { return [] }
        if case .unverified(let reason) = partner.state { return ["\(partner) serves no change yet: \(reason)"] }
        let places = { (changes: [SchemaChange]) in
            Set(changes.map { "\($0.path)" }).sorted().joined(separator: ", ")
        }
        let (own, others) = (affected.filter(partner.carries), affected.filter { !partner.carries($0) })
        return [
            own.isEmpty ? nil : carried(places(own)),
            others.isEmpty
                ? nil
                : "\(partner) does not serve the change of \(places(others)): its steps do not carry it over",
        ].compactMap(\.self)
    }

    /// Returns the partner collection that serves the changes of a collection, which then keeps its schema and its
    /// documents.
    /// - Returns: `nil` if no partner serves any change of the collection. Also `nil` if another change of the
    ///   collection is breaking or versioned, or may stop documents from syncing.
    package func partner(keeping namespace: Namespace) -> PartnerCollection? {
        let own = filter { $0.namespace == namespace || $0.oldNamespace == namespace }
        let isServed = own.allSatisfy { change in
            change.partner != nil
                || change.kind.verdict == .nonBreaking && !change.kind.consequences.contains(.unsyncedDocuments)
        }
        return isServed ? own.lazy.compactMap(\.partner).first : nil
    }
}

extension DiffReport {
    /// Sets the verdicts of the changes that add partner collections, and adds notes about the changes that no partner
    /// serves.
    public mutating func serve(by partners: [PartnerCollection]) { notes += changes.serve(by: partners) }
}
