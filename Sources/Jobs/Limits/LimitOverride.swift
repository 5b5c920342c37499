package import BSON

/// A limit that an operator set for a started job, in the place of the job file's.
package struct LimitOverride: Hashable, Sendable {
    /// Its name below `limits`, such as `nice` or `chunk.documents`.
    package var name: String
    /// Its value, as the job file would spell it.
    package var value: String

    /// Joins the two; a limit's former name stands for its present one.
    package init(name: String, value: String) {
        self.name = Limit.named(name)?.name ?? name
        self.value = value
    }

    /// All that the state database holds: the names' parts are nested there, since a field's name has no dot.
    package static func all(in document: BSONDocument, below prefix: String = "") -> [LimitOverride] {
        ((try? document.elements()) ?? []).flatMap { name, value in
            switch value {
            case .object(let inner): all(in: inner, below: "\(prefix)\(name).")
            default: value.text.map { [LimitOverride(name: prefix + name, value: $0)] } ?? []
            }
        }
    }
}
