package import BSON
import Jobs
import LocatedYAML

/// The conversion between the `_id` of a document in the original collection and the `_id` of its counterpart in the
/// partner collection.
///
/// The `_id`s of one of the two collections are strings. Each `_id` that can be converted corresponds to exactly one
/// `_id` in the other collection. A string is refused if the conversion would write it differently, such as an ObjectId
/// in capital letters.
package struct IDConversion: Hashable, Sendable {
    /// The types that convert to a string and back.
    package enum Kind: String, Sendable, CaseIterable {
        case objectId, int, uuid
    }

    /// The type of the `_id`s in the collection whose `_id`s are not strings.
    package let kind: Kind
    /// The collection whose `_id`s are strings: the original or the partner.
    package let texts: PartnerSide

    /// Creates a conversion between `kind` and strings; the strings are on the given side.
    package init(_ kind: Kind, textsOn side: PartnerSide) { (self.kind, texts) = (kind, side) }

    /// Reads `{from: TYPE, to: TYPE}` from a job file, in which one of the two types is `string`.
    init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"id\"", allowed: ["from", "to"])
        let from = try members.required("from").text(of: "\"from\"")
        let to = try members.required("to").text(of: "\"to\"")
        if to == "string", let kind = Kind(rawValue: from) {
            self.init(kind, textsOn: .target)
        } else if from == "string", let kind = Kind(rawValue: to) {
            self.init(kind, textsOn: .source)
        } else {
            throw node.error("\"id\" converts objectId, int or uuid to string, or back")
        }
    }

    /// The types of the original's and the partner's `_id`s, as `from` and `to` name them in a job file.
    package var types: (from: String, to: String) {
        texts == .target ? (kind.rawValue, "string") : ("string", kind.rawValue)
    }

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
        // A string is accepted only if the conversion back returns the same string.
        return value.flatMap { self.text(of: $0) == id ? $0 : nil }
    }
}
