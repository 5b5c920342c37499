package import ServerSchema

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
