import BSON

/// How reports show the `_id`s of documents: an `_id` can be a mail address.
public enum IDDisplay: Sendable {
    /// As they are.
    case shown
    /// As a keyed hash, by which a document can be followed through reports that were made with the same key.
    case hashed(IDHash)
    /// Not at all.
    case hidden
}

extension IDDisplay {
    /// The `_id` for a person; `nil` when it is hidden.
    func text(_ id: BSONValue) -> String? {
        switch self {
        case .shown: ShellLiteral.text(id)
        case .hashed(let hash): hash.text(of: id)
        case .hidden: nil
        }
    }

    /// The `_id` for a machine; null when it is hidden.
    func json(_ id: BSONValue) -> ReportValue {
        switch self {
        case .shown: .extended(id)
        case .hashed(let hash): .string(hash.text(of: id))
        case .hidden: .null
        }
    }

    /// The `_id`s for a machine; none when they are hidden.
    func json(_ ids: [BSONValue]) -> ReportValue {
        if case .hidden = self { return .array([]) }
        return .array(ids.map { json($0) })
    }
}
