public import BSON
internal import ServerSchema

/// A second collection that holds the documents of one in the shape of the next schema, and what is known of it.
public struct PartnerCollection: Hashable, Sendable {
    /// The name of the partner job.
    public var name: String
    /// The collection that was there first.
    public var source: Namespace
    /// The one that holds the same documents in the new shape.
    public var target: Namespace
    /// The places of the original that the job's steps carry over, as job files spell them.
    public var places: Set<String>
    /// What is known of it.
    public var state: State

    /// Whether a change can be built on a partner.
    public enum State: Hashable, Sendable {
        /// Both sides were compared at that time, as recently as a cutover asks, and no difference was found.
        case verified(ServerTime)
        /// The original's clients are gone since that time.
        case cutOver(ServerTime)
        /// Nothing can be built on it: why, and how to mend it, as a clause.
        case unverified(String)
    }

    /// Joins the parts.
    public init(name: String, source: Namespace, target: Namespace, places: Set<String>, state: State) {
        (self.name, self.source, self.target) = (name, source, target)
        (self.places, self.state) = (places, state)
    }
}

extension PartnerCollection {
    /// Whether a change is one of the original that would break something, whoever serves it.
    func isConcerned(by change: SchemaChange) -> Bool {
        (change.oldNamespace ?? change.namespace) == source && change.kind.verdict >= .versioned
            && change.code != .typeRemoved
    }

    /// Whether the documents of the partner differ from the originals by that change.
    func carries(_ change: SchemaChange) -> Bool {
        if change.path.isRoot { return [.typeRenamed, .collectionMoved].contains(change.code) }
        return [change.oldPath, change.path].map(\.jobNames).contains { names in
            places.contains { place in
                zip(place.split(separator: "."), names).allSatisfy { $0 == $1 }
            }
        }
    }
}

extension SchemaPath {
    /// The names of the steps as job files spell them.
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
    /// Takes the breaking out of what verified partners serve.
    /// - Returns: what they do not serve, and why, a clause each.
    package mutating func serve(by partners: [PartnerCollection]) -> [String] {
        var notes: [String] = []
        for partner in partners {
            let concerned = indices.filter { partner.isConcerned(by: self[$0]) }
            guard !concerned.isEmpty else { continue }
            let who = "the partner \(partner.target) of \(partner.source) (job \(partner.name))"
            if case .unverified(let reason) = partner.state {
                notes.append("\(who) serves no change yet: \(reason)")
                continue
            }
            for index in concerned where partner.carries(self[index]) {
                self[index].kind = self[index].kind.served(by: partner)
                self[index].partner = partner
            }
            let others = concerned.filter { self[$0].partner == nil }
            guard !others.isEmpty else { continue }
            let places = Set(others.map { "\(self[$0].path)" }).sorted().joined(separator: ", ")
            notes.append("\(who) does not serve the change of \(places): its steps do not carry that over")
        }
        return notes
    }

    /// The partner that lets a collection keep its schema, so that none of its documents has to change; `nil` where it has
    /// none, or where a change is left that would break something, or leave documents unfit.
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
    /// Takes the breaking out of what verified partners serve, and notes what they do not serve.
    public mutating func serve(by partners: [PartnerCollection]) { notes += changes.serve(by: partners) }
}
