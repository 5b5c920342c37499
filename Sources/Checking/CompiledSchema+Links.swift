package import BSON
import ServerSchema

/// A key that a document's link holds.
package struct LinkedKey: Hashable, Sendable {
    /// Which of the schema's links.
    package let link: Int
    /// What it is compared with the `_id`s of.
    package let key: BSONValue
}

extension CompiledSchema {
    /// The collections that the links lead to, one per link.
    package var linkTargets: [Namespace] { links.map(\.target) }

    /// The keys that a document's links hold, as far as they are of the right type: others have a finding already.
    ///
    /// A link that is compared with another field than `_id` is passed over: such a one does not sync.
    /// - Throws: ``BSONError`` when the bytes on the way are damaged.
    package func linkedKeys(of document: borrowing BSONView) throws(BSONError) -> [LinkedKey] {
        var result: [LinkedKey] = []
        for (number, link) in links.enumerated() where link.foreignKey == "_id" {
            var keys: [BSONValue] = []
            try collectKeys(document, paths[link.node].steps[...], accepting: nodes[link.node].accepts, into: &keys)
            result += keys.map { LinkedKey(link: number, key: $0) }
        }
        return result
    }

    private func collectKeys(
        _ view: borrowing BSONView, _ steps: ArraySlice<SchemaPath.Step>, accepting types: TypeMask,
        into keys: inout [BSONValue]
    ) throws(BSONError) {
        guard let step = steps.first else { return }
        let rest = steps.dropFirst()
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if case .field(let name) = step, !view.nameBytes(element).isEqual(to: name) { continue }
            let type = TypeMask(element.type)
            if rest.isEmpty {
                if types.contains(type), type != .null { keys.append(try view.value(element)) }
            } else if type == (rest.first == .elements ? .array : .object) {
                try collectKeys(try view.document(element), rest, accepting: types, into: &keys)
            }
        }
    }
}
