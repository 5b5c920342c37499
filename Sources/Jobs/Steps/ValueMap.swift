import BSON
import LocatedYAML
import ServerSchema
import Yams

/// The table of a `map` step, from old to new values.
struct ValueMap: Hashable, Sendable {
    /// The values that an entry is for.
    enum Key: Hashable, Sendable {
        case value(BSONValue)
        case missing
        /// All values of a BSON type, by its alias.
        case type(String)
    }

    struct Entry: Hashable, Sendable {
        let from: Key
        let to: BSONValue
    }

    let entries: [Entry]
    /// Whether texts are equal that differ only in the case of the letters A to Z.
    let ignoresCase: Bool

    /// The largest number of entries.
    ///
    /// The number is limited because the update compares each value with each entry that might match it.
    static let maximum = 1_000

    /// Reads a mapping from old to new values, or a list of `{from: …, to: …}`, `{missing: true, to: …}` and
    /// `{type: …, to: …}`.
    init(_ node: YAMLNode, ignoresCase: Bool) throws(JobError) {
        self.ignoresCase = ignoresCase
        var entries: [Entry] = []
        if case .mapping(let mapping) = node.node, !mapping.isEmpty {
            for (key, value) in mapping {
                let from = YAMLNode(node: key, file: node.file)
                let to = try JobLiteral.value(YAMLNode(node: value, file: node.file))
                try Self.add(.value(try Self.key(from)), to, at: from, ignoresCase, to: &entries)
            }
        } else {
            for element in try node.elements(of: "\"values\"") {
                let members = try element.members(
                    of: "an entry of \"values\"", allowed: ["from", "missing", "type", "to"])
                let key: Key
                switch (members["from"], members["missing"], members["type"]) {
                case (let from?, nil, nil): key = .value(try Self.key(from))
                case (nil, let missing?, nil):
                    guard JobLiteral.bool(missing) == true else { throw missing.error("\"missing\" must be true") }
                    key = .missing
                case (nil, nil, let type?): key = .type(try Self.type(type))
                default: throw element.error("an entry has one of \"from\", \"missing\" and \"type\", and \"to\"")
                }
                try Self.add(
                    key, try JobLiteral.value(try members.required("to")), at: element, ignoresCase, to: &entries)
            }
        }
        guard entries.count <= Self.maximum else {
            throw node.error("\"values\" has \(entries.count) entries: at most \(Self.maximum) fit into each update")
        }
        self.entries = entries
    }

    private static func key(_ node: YAMLNode) throws(JobError) -> BSONValue {
        let value = try JobLiteral.value(node)
        guard value.type != .array else { throw node.error("an entry cannot be for a list: \"field\" can end with []") }
        return value
    }

    private static func type(_ node: YAMLNode) throws(JobError) -> String {
        let name = try node.text(of: "\"type\"")
        let names = BSONType.all.map(\.description)
        guard names.contains(name), name != "null" else {
            let hint = Spelling.hint(for: name, among: names).map { " (\($0))" } ?? ""
            throw node.error(name == "null" ? "write \"from: null\"" : "\"\(name)\" is no type of a value\(hint)")
        }
        return name
    }

    private static func add(
        _ from: Key, _ to: BSONValue, at node: YAMLNode, _ ignoresCase: Bool, to entries: inout [Entry]
    ) throws(JobError) {
        let entry = Entry(from: from, to: to)
        guard !entries.contains(where: { $0.matches(entry.from, ignoringCase: ignoresCase) }) else {
            throw node.error("the table has this entry twice")
        }
        guard entry.value != IDKey(to) else { throw node.error("an entry maps a value to itself") }
        entries.append(entry)
    }

    /// Whether no two entries have the same new value, and each is for one value.
    var isOneToOne: Bool {
        !ignoresCase && Set(entries.map { IDKey($0.to) }).count == entries.count
            && entries.allSatisfy { if case .type = $0.from { false } else { true } }
    }

    /// Whether the new value of one entry is an old value of another one, or of itself.
    var isChained: Bool {
        entries.contains { entry in
            entries.contains { $0.matches(.value(entry.to), ignoringCase: ignoresCase) || $0.covers(entry.to) }
        }
    }

    /// Whether an entry is for null or for a missing field.
    var givesAbsent: Bool {
        entries.contains { [.missing, .value(.null), .type("undefined")].contains($0.from) }
    }

    /// Returns an object with the new value of `value` in the field `to`; `null` if the table has no entry for it.
    ///
    /// Numbers are compared by value, without regard to their type, because the server also finds the `_id` 1 by the
    /// link 1.0. An entry for a value goes before one for its type.
    func entry(for value: Expression) -> Expression {
        let others = entries.reversed().reduce(Expression.null) { rest, entry in
            let new = Expression.constant(["to": entry.to])
            return switch entry.from {
            case .value(.null): .choose(if: value.hasType("null"), then: new, else: rest)
            case .value: rest
            case .missing: .choose(if: value.isMissing, then: new, else: rest)
            case .type(let alias): .choose(if: value.hasType(alias), then: new, else: rest)
            }
        }
        let given = entries.compactMap { entry -> (from: BSONValue, to: BSONValue)? in
            if case .value(let from) = entry.from, from != .null { (folded(from), entry.to) } else { nil }
        }
        guard !given.isEmpty else { return others }
        let found = Expression([
            "$filter": [
                "input": Expression.constant(.array(of: given.map { ["from": $0.from, "to": $0.to] })).bson,
                "as": "entry", "cond": isSame(.variable("entry.from"), .variable("value")).bson,
            ]
        ])
        return .let(
            ["value": folded(value)],
            in: .choose(
                if: .call("$in", .variable("value"), .constant(.array(of: given.map(\.from)))),
                then: .let(
                    ["entry": .call("$arrayElemAt", found, .constant(0))],
                    in: .choose(if: .variable("entry").isMissing, then: others, else: .variable("entry"))),
                else: others))
    }

    /// Returns whether the value is already one of the new values.
    func hasTarget(_ value: Expression) -> Expression {
        let new = Expression.constant(.array(of: entries.map(\.to)))
        return .all([
            .call("$in", value, new),
            .call(
                "$anyElementTrue",
                .call("$map", ["input": new, "as": Expression("to"), "in": isSame(.variable("to"), value)])),
        ])
    }

    private func folded(_ value: Expression) -> Expression {
        guard ignoresCase else { return value }
        return .choose(if: value.hasType("string"), then: Expression(["$toLower": value.bson]), else: value)
    }

    private func folded(_ value: BSONValue) -> BSONValue { ignoresCase ? value.lowercased : value }

    /// Returns whether two values are equal by `$eq`, and if both are texts, their bytes are the same.
    private func isSame(_ entry: Expression, _ value: Expression) -> Expression {
        .all([
            entry == value,
            .any([!(entry.hasType("string") && value.hasType("string")), .sameText(entry, value)]),
        ])
    }
}

extension ValueMap.Entry {
    /// The old value; `nil` if the entry is for a type or for a missing field.
    fileprivate var value: IDKey? { if case .value(let value) = from { IDKey(value) } else { nil } }

    fileprivate func matches(_ key: ValueMap.Key, ignoringCase: Bool) -> Bool {
        guard case .value(let left) = from, case .value(let right) = key else { return from == key }
        return IDKey(left) == IDKey(right) || ignoringCase && left.lowercased == right.lowercased
    }

    fileprivate func covers(_ value: BSONValue) -> Bool { from == .type(value.type.description) }
}

extension BSONValue {
    /// A text with its letters A to Z in lower case, as the server's `$toLower` makes it; any other value unchanged.
    fileprivate var lowercased: BSONValue {
        guard case .string(let text) = self else { return self }
        return .string(
            String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self))
    }
}
