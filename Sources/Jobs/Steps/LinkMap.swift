import BSON
import LocatedYAML
import ServerSchema
import Yams

/// The map of a `remap-link` step, from old to new values of links.
struct LinkMap: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let from: BSONValue
        let to: BSONValue
    }

    let entries: [Entry]

    /// The largest number of entries.
    ///
    /// The number is limited because the update compares each link with each entry that might match it.
    static let maximum = 1_000

    /// Reads a mapping from old to new values, or a list of `{from: …, to: …}`.
    init(_ node: YAMLNode) throws(JobError) {
        var entries: [Entry] = []
        var seen: Set<IDKey> = []
        func add(_ from: YAMLNode, _ to: YAMLNode) throws(JobError) {
            let entry = Entry(from: try JobLiteral.value(from), to: try JobLiteral.value(to))
            for (value, place) in [(entry.from, from), (entry.to, to)] {
                guard !Self.excluded.contains(value.type.description) else {
                    throw place.error("a link cannot be of type \(value.type)")
                }
            }
            guard seen.insert(IDKey(entry.from)).inserted else { throw from.error("the map has this entry twice") }
            guard IDKey(entry.from) != IDKey(entry.to) else {
                throw from.error("an entry maps a value to itself")
            }
            entries.append(entry)
        }
        if case .mapping(let mapping) = node.node, !mapping.isEmpty {
            for (key, value) in mapping {
                try add(YAMLNode(node: key, file: node.file), YAMLNode(node: value, file: node.file))
            }
        } else {
            for element in try node.elements(of: "\"map\"") {
                let members = try element.members(of: "an entry of \"map\"", allowed: ["from", "to"])
                try add(try members.required("from"), try members.required("to"))
            }
        }
        guard entries.count <= Self.maximum else {
            throw node.error("\"map\" has \(entries.count) entries: at most \(Self.maximum) fit into each update")
        }
        self.entries = entries
    }

    /// Whether no two entries have the same new value.
    var isOneToOne: Bool { Set(entries.map { IDKey($0.to) }).count == entries.count }

    /// Whether the new value of one entry is the old value of another.
    var isChained: Bool { !Set(entries.map { IDKey($0.from) }).isDisjoint(with: entries.map { IDKey($0.to) }) }

    /// Returns the entry whose old value is the given link's value; `null` if there is none.
    ///
    /// Numbers are compared by value, without regard to their type, because the server also finds the `_id` 1 by the
    /// link 1.0.
    func entry(for link: Expression) -> Expression {
        let found = Expression([
            "$filter": [
                "input": Expression.constant(
                    .array(of: entries.map { ["from": $0.from, "to": $0.to] })
                ).bson, "as": "entry", "cond": isSame(.variable("entry.from"), link).bson,
            ]
        ])
        return .choose(
            if: .call("$in", link, .constant(.array(of: entries.map(\.from)))),
            then: .let(
                ["entry": .call("$arrayElemAt", found, .constant(0))],
                in: .choose(if: .variable("entry").isMissing, then: .null, else: .variable("entry"))), else: .null)
    }

    /// Returns whether the link already has one of the new values.
    func hasTarget(_ link: Expression) -> Expression {
        .all([
            .call("$in", link, .constant(.array(of: entries.map(\.to)))),
            .call(
                "$anyElementTrue",
                .call(
                    "$map",
                    [
                        "input": .constant(.array(of: entries.map(\.to))), "as": Expression("to"),
                        "in": isSame(.variable("to"), link),
                    ])),
        ])
    }

    /// Returns whether two link values lead to the same document: `$eq` holds, and if both are texts, their bytes are
    /// the same.
    private func isSame(_ entry: Expression, _ link: Expression) -> Expression {
        .all([
            entry == link,
            .any([
                !(entry.hasType("string") && link.hasType("string")), .sameText(entry, link),
            ]),
        ])
    }

    private static let excluded: Set = ["null", "undefined", "array"]
}
