import BSON
import ServerSchema

/// What a tally keeps of names and values: larger ones would make its memory depend on the data.
extension Tally {
    /// The bytes that a name or an `_id` may have to be kept.
    static var maximumKeptBytes: Int { 256 }
}

extension BSONValue {
    /// Whether the value is short enough to be kept.
    var isSmall: Bool {
        switch self {
        case .string(let text): text.utf8.count <= Tally.maximumKeptBytes
        case .binary(_, let bytes): bytes.count <= Tally.maximumKeptBytes
        case .object(let document), .array(let document): document.bytes.count <= Tally.maximumKeptBytes
        default: true
        }
    }

    /// The value when it is short, the beginning of a longer text, and `nil` for another long value.
    var shortened: BSONValue? {
        if isSmall { return self }
        guard case .string(let text) = self else { return nil }
        return .string(String(text.prefix(Tally.maximumKeptBytes / 4)) + "…")
    }
}

extension FindingCollector.Located {
    /// Whether the names in the path are short enough to be kept.
    var isSmall: Bool {
        below.allSatisfy { step in
            if case .field(let name) = step { name.utf8.count <= Tally.maximumKeptBytes } else { true }
        }
    }
}
