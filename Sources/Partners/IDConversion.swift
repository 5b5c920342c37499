package import BSON
import Jobs
import LocatedYAML

/// What becomes of an `_id` on its way to the partner, and back: a text of it, or a value of a text.
///
/// Each `_id` has one form on either side: what has another spelling, such as a text in capital letters, is refused.
package struct IDConversion: Hashable, Sendable {
    /// The types that have a text.
    package enum Kind: String, Sendable, CaseIterable {
        case objectId, int, uuid
    }

    /// The type that is no text.
    package let kind: Kind
    /// The side that has the texts.
    package let texts: PartnerSide

    /// Joins the two.
    package init(_ kind: Kind, textsOn side: PartnerSide) { (self.kind, texts) = (kind, side) }

    /// Reads `{from: TYPE, to: TYPE}`, of which one is string.
    init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"id\"", allowed: ["from", "to"])
        let from = try members.required("from").text(of: "\"from\"")
        let to = try members.required("to").text(of: "\"to\"")
        if to == "string", let kind = Kind(rawValue: from) {
            self.init(kind, textsOn: .target)
        } else if from == "string", let kind = Kind(rawValue: to) {
            self.init(kind, textsOn: .source)
        } else {
            throw node.error("\"id\" goes from objectId, int or uuid to string, or back")
        }
    }

    /// The types, as `from` and `to` name them.
    package var types: (from: String, to: String) {
        texts == .target ? (kind.rawValue, "string") : ("string", kind.rawValue)
    }

    /// The `_id` on the other side; `nil` of one that has none there.
    package func converted(_ id: BSONValue, from side: PartnerSide) -> BSONValue? {
        side == texts ? value(of: id) : text(of: id)
    }

    private func text(of id: BSONValue) -> BSONValue? {
        switch (kind, id) {
        case (.objectId, .objectID(let id)): .string("\(id)")
        case (.int, .int(let number)): .string("\(number)")
        case (.int, .long(let number)): .string("\(number)")
        case (.uuid, .binary(4, let bytes)) where bytes.count == 16: .string(UUIDText.canonical(bytes))
        default: nil
        }
    }

    private func value(of id: BSONValue) -> BSONValue? {
        guard case .string(let text) = id else { return nil }
        let value: BSONValue? =
            switch kind {
            case .objectId: ObjectID(text).map { .objectID($0) }
            case .int: Int(text).map { .integer($0) }
            case .uuid: UUIDText.bytes(of: text).map { .binary(subtype: 4, bytes: $0) }
            }
        // Only the spelling that the way back gives.
        return value.flatMap { self.text(of: $0) == id ? $0 : nil }
    }
}
