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
        /// Both sides were compared at that time, as recently as a cutover asks, no difference was found, and a mirror
        /// is at work.
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
    /// Whether a change is one of the original that would break something, served or not.
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

extension PartnerCollection: CustomStringConvertible {
    /// The partner's collections and its job, for messages.
    public var description: String { "the partner \(target) of \(source) (job \(name))" }
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
    /// Judges what partners do for a deploy.
    ///
    /// A collection that is added as a partner is served, or is breaking while nothing keeps it equal to its original.
    /// A change of an original itself breaks what it breaks: a partner helps only where its original keeps its schema.
    /// - Returns: the changes that no partner serves, and why, a clause each.
    package mutating func serve(by partners: [PartnerCollection]) -> [String] {
        for partner in partners {
            for index in indices where self[index].code == .typeAdded && self[index].namespace == partner.target {
                self[index].kind = self[index].kind.added(as: partner)
                self[index].partner = partner
            }
        }
        return partners.flatMap { partner in
            notes(on: partner) { carried in
                "\(partner) does not serve the change of \(carried) in \(partner.source) itself: leave "
                    + "\(partner.source) its schema, and add the new one as \(partner.target)"
            }
        }
    }

    /// Marks the changes of originals that partners carry over: no document needs them as long as the original keeps
    /// its schema.
    /// - Returns: the changes that no partner carries over, and why, a clause each.
    package mutating func carry(by partners: [PartnerCollection]) -> [String] {
        for partner in partners {
            if case .unverified = partner.state { continue }
            for index in indices where partner.isConcerned(by: self[index]) && partner.carries(self[index]) {
                self[index].kind = self[index].kind.served(by: partner)
                self[index].partner = partner
            }
        }
        return partners.flatMap { notes(on: $0) { _ in nil } }
    }

    /// The clauses on the changes of a partner's original that break something.
    /// - Parameter carried: what is said of the places that the partner's steps carry over.
    private func notes(on partner: PartnerCollection, _ carried: (_ places: String) -> String?) -> [String] {
        let concerned = filter { partner.isConcerned(by: $0) }
        guard !concerned.isEmpty else { return [] }
        if case .unverified(let reason) = partner.state { return ["\(partner) serves no change yet: \(reason)"] }
        let places = { (changes: [SchemaChange]) in
            Set(changes.map { "\($0.path)" }).sorted().joined(separator: ", ")
        }
        let (own, others) = (concerned.filter(partner.carries), concerned.filter { !partner.carries($0) })
        return [
            own.isEmpty ? nil : carried(places(own)),
            others.isEmpty
                ? nil
                : "\(partner) does not serve the change of \(places(others)): its steps do not carry that over",
        ].compactMap(\.self)
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
    /// Judges what partners do for the deploy, and notes what they do not serve.
    public mutating func serve(by partners: [PartnerCollection]) { notes += changes.serve(by: partners) }
}
