package import ServerSchema
package import Yams

/// A node of a YAML file with its place, read with errors that name it.
package struct YAMLNode {
    /// The node.
    package let node: Node
    /// The file's path, for messages.
    package let file: String

    /// Joins the two.
    package init(node: Node, file: String) {
        self.node = node
        self.file = file
    }

    /// Where it begins.
    package var location: SourceLocation {
        SourceLocation(file: file, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    /// Whether it is a list without an entry.
    package var isEmptyList: Bool { node.sequence?.isEmpty == true }

    /// Whether it is a mapping with that key, and that text there if one is given.
    package func hasMember(_ key: String, _ text: String? = nil) -> Bool {
        node.mapping?.contains { name, value in
            name.scalar?.string == key && (text == nil || value.scalar?.string == text)
        } == true
    }

    /// What is wrong with it.
    package func error(_ message: String) -> LocatedError { LocatedError(message, at: location) }

    /// The members of a mapping; every key has to be one of `allowed`.
    package func members(of what: String, allowed: [String]) throws(LocatedError) -> YAMLMembers {
        guard case .mapping(let mapping) = node else { throw error("\(what) must be a mapping") }
        var members: [String: YAMLNode] = [:]
        for (key, value) in mapping {
            let name = key.scalar?.string ?? ""
            guard allowed.contains(name) else {
                let hint =
                    Spelling.hint(for: name, among: allowed).map { " (\($0))" }
                    ?? "; keys: \(allowed.joined(separator: ", "))"
                throw YAMLNode(node: key, file: file).error("\(what) has no key \"\(name)\"\(hint)")
            }
            members[name] = YAMLNode(node: value, file: file)
        }
        return YAMLMembers(what: what, members: members, location: location)
    }

    /// The entries of a mapping whose keys are anybody's to choose, in their order.
    package func entries(of what: String) throws(LocatedError) -> [(name: String, value: YAMLNode)] {
        guard case .mapping(let mapping) = node else { throw error("\(what) must be a mapping") }
        return mapping.map { ($0.scalar?.string ?? "", YAMLNode(node: $1, file: file)) }
    }

    /// The elements of a sequence that is not empty.
    package func elements(of what: String) throws(LocatedError) -> [YAMLNode] {
        guard case .sequence(let sequence) = node, !sequence.isEmpty else {
            throw error("\(what) must be a list with at least one entry")
        }
        return sequence.map { YAMLNode(node: $0, file: file) }
    }

    /// A scalar's text as it stands in the file.
    package func text(of what: String) throws(LocatedError) -> String {
        guard let scalar = node.scalar, !scalar.string.isEmpty else { throw error("\(what) must be a text") }
        guard scalar.style != .plain || !["~", "null", "Null", "NULL"].contains(scalar.string) else {
            throw error(
                "\(what) must be a text, and \(scalar.string) is YAML's null: put it in quotation marks if it is meant")
        }
        return scalar.string
    }

    /// The largest number that a file may give: far beyond all that is counted, and products with it stay in range.
    package static let largestInteger = 1_000_000_000_000

    /// A whole number, up to ``largestInteger``.
    package func integer(of what: String, atLeast minimum: Int) throws(LocatedError) -> Int {
        guard let number = node.scalar.flatMap({ Int($0.string) }), number >= minimum else {
            throw error("\(what) must be a whole number of at least \(minimum)")
        }
        guard number <= Self.largestInteger else {
            throw error("\(what) must be a whole number of at most \(Self.largestInteger)")
        }
        return number
    }
}

/// The members of one mapping of a YAML file.
package struct YAMLMembers {
    let what: String
    /// By key.
    package let members: [String: YAMLNode]
    /// Where it begins.
    package let location: SourceLocation

    /// A member; `nil` when it is not there.
    package subscript(name: String) -> YAMLNode? { members[name] }

    /// A member that has to be there.
    package func required(_ name: String) throws(LocatedError) -> YAMLNode {
        guard let member = members[name] else { throw LocatedError("\(what) needs \"\(name)\"", at: location) }
        return member
    }
}
