package import ServerSchema
package import Yams

/// A node of a YAML file with its position, which is stated in errors about the node.
package struct YAMLNode {
    package let node: Node
    /// The path of the YAML file, for error messages.
    package let file: String

    package init(node: Node, file: String) {
        self.node = node
        self.file = file
    }

    /// The position in the file where the node begins.
    package var location: SourceLocation {
        SourceLocation(file: file, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    /// Whether the node is a list without entries.
    package var isEmptyList: Bool { node.sequence?.isEmpty == true }

    /// Whether the node is a mapping with the given key and, if `text` is given, with `text` as the key's value.
    package func hasMember(_ key: String, _ text: String? = nil) -> Bool {
        node.mapping?.contains { name, value in
            name.scalar?.string == key && (text == nil || value.scalar?.string == text)
        } == true
    }

    package func error(_ message: String) -> LocatedError { LocatedError(message, at: location) }

    /// Returns the members of a mapping.
    /// - Parameters:
    ///   - what: the name of the mapping in messages.
    ///   - allowed: the keys that the mapping may have.
    /// - Throws: ``LocatedError`` if the node is not a mapping, or has any other key.
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

    /// Returns the entries of a mapping in which the operator chooses the keys, in the order of the file.
    /// - Throws: ``LocatedError`` if the node is not a mapping.
    package func entries(of what: String) throws(LocatedError) -> [(name: String, value: YAMLNode)] {
        guard case .mapping(let mapping) = node else { throw error("\(what) must be a mapping") }
        return mapping.map { ($0.scalar?.string ?? "", YAMLNode(node: $1, file: file)) }
    }

    /// Returns the key `name` of a mapping as a node, so that an error can state the position of the key.
    ///
    /// Returns this node if the mapping has no such key.
    package func key(_ name: String) -> YAMLNode {
        let key = node.mapping?.first { $0.key.scalar?.string == name }?.key
        return key.map { YAMLNode(node: $0, file: file) } ?? self
    }

    /// Returns the elements of a list.
    /// - Throws: ``LocatedError`` if the node is not a list, or is an empty list.
    package func elements(of what: String) throws(LocatedError) -> [YAMLNode] {
        guard case .sequence(let sequence) = node, !sequence.isEmpty else {
            throw error("\(what) must be a list with at least one entry")
        }
        return sequence.map { YAMLNode(node: $0, file: file) }
    }

    /// Returns the text of a scalar of any YAML type.
    /// - Throws: ``LocatedError`` if the node is not a scalar, is empty, or is YAML's null.
    package func text(of what: String) throws(LocatedError) -> String {
        guard let scalar = node.scalar, !scalar.string.isEmpty else { throw error("\(what) must be a text") }
        guard scalar.style != .plain || !["~", "null", "Null", "NULL"].contains(scalar.string) else {
            throw error(
                "\(what) must be a text, but \(scalar.string) is YAML's null: put a text in quotation marks")
        }
        return scalar.string
    }

    /// The largest number that a file may contain.
    ///
    /// The number is far above any real count, but the program can multiply it by a million without an overflow.
    package static let largestInteger = 1_000_000_000_000

    /// Returns a whole number from `minimum` to ``largestInteger``.
    /// - Throws: ``LocatedError`` for any other value.
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
    /// The members of the mapping, by their keys.
    package let members: [String: YAMLNode]
    /// The position in the file where the mapping begins.
    package let location: SourceLocation

    /// The member with the given key; `nil` if there is none.
    package subscript(name: String) -> YAMLNode? { members[name] }

    /// Returns the member with the given key.
    /// - Throws: ``LocatedError`` if there is none.
    package func required(_ name: String) throws(LocatedError) -> YAMLNode {
        guard let member = members[name] else { throw LocatedError("\(what) needs \"\(name)\"", at: location) }
        return member
    }
}
