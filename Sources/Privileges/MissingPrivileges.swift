package import Mongo

/// The error for a user who lacks privileges that a command requires.
package struct MissingPrivileges: Error, CustomStringConvertible {
    /// The missing privileges, one entry for each resource.
    package let missing: [Role.Grant]
    private let user: String
    private let command: String
    private let lacksLedger: Bool

    /// Creates the error for the privileges that a user lacks for a command; `nil` if none is missing.
    package init?(of user: UserPrivileges, for command: CommandNeeds, on places: WorkPlaces) {
        missing = Role(command, on: places, isFull: false).grants.compactMap { grant in
            var grant = grant
            grant.actions.removeAll { user.allow($0, on: grant.resource) }
            return grant.actions.isEmpty ? nil : grant
        }
        guard !missing.isEmpty else { return nil }
        (self.user, self.command) = (user.user, command.command)
        let ledgers = places.resources[.ledger] ?? []
        lacksLedger = missing.contains { ledgers.contains($0.resource) }
    }

    /// The missing actions, and the resources that they are missing on.
    package var list: String {
        // Resources for which the same actions are missing are listed together.
        let kinds = missing.map(\.actions).reduce(into: [[String]]()) { if !$0.contains($1) { $0.append($1) } }
        return kinds.map { actions in
            let places = missing.filter { $0.actions == actions }.map { "\($0.resource)" }
            return "\(actions.joined(separator: ", ")) on \(places.joined(separator: ", "))"
        }.joined(separator: "; ")
    }

    /// The message, which states the missing privileges, and how to print a role with all privileges that the command
    /// requires.
    package var description: String {
        "the user \"\(user)\" lacks privileges for \(command), and nothing was done: missing "
            + "\(list) (shipshape grants \(command) prints the role"
            + (lacksLedger ? "; if there is no ledger, set SHIPSHAPE_LEDGER=none)" : ")")
    }
}
