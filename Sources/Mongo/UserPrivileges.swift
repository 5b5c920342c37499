package import BSON

package enum PrivilegeResource: Hashable, Sendable {
    case collection(Namespace)
    /// One database, with all its collections except the server's own.
    case database(String)
    /// All databases, with all their collections except the server's own.
    case anyDatabase
    case cluster
}

extension PrivilegeResource: CustomStringConvertible {
    /// The resource in words, for messages to the user.
    package var description: String {
        switch self {
        case .collection(let namespace): "\(namespace)"
        case .database(let name): "the database \(name)"
        case .anyDatabase: "every database"
        case .cluster: "the cluster"
        }
    }
}

/// The user's privileges, as the deployment reports them.
///
/// The corresponding command is `connectionStatus` with `showPrivileges`.
package struct UserPrivileges: Sendable {
    package let user: String
    private let granted: [(resource: BSONDocument, actions: Set<String>)]

    /// Reads a reply; `nil` if no user is logged in, as on a deployment without access control.
    ///
    /// Without a logged-in user, this program cannot know in advance which actions the deployment allows.
    package init?(connectionStatus reply: BSONDocument) {
        guard let info = reply["authInfo"]?.document, let users = info["authenticatedUsers"]?.document,
            let user = users.values.first?.document?["user"]?.text,
            let privileges = info["authenticatedUserPrivileges"]?.document
        else { return nil }
        self.user = user
        granted = privileges.values.compactMap(\.document).compactMap { privilege in
            guard let resource = privilege["resource"]?.document else { return nil }
            return (resource, Set(privilege["actions"]?.document?.values.compactMap(\.text) ?? []))
        }
    }

    package func allow(_ action: String, on resource: PrivilegeResource) -> Bool {
        granted.contains { $0.actions.contains(action) && Self.covers($0.resource, resource) }
    }

    /// Whether a privilege on `granted` includes `asked`, by the server's rules.
    ///
    /// An empty name means every name, except the names of the server's own collections.
    private static func covers(_ granted: BSONDocument, _ asked: PrivilegeResource) -> Bool {
        if granted["anyResource"]?.isTrue == true { return true }
        guard let database = granted["db"]?.text, let collection = granted["collection"]?.text else {
            return asked == .cluster && granted["cluster"]?.isTrue == true
        }
        switch asked {
        case .cluster: return false
        case .anyDatabase: return database.isEmpty && collection.isEmpty
        case .database(let name): return (database.isEmpty || database == name) && collection.isEmpty
        case .collection(let namespace):
            let isAny = collection.isEmpty && !namespace.collection.hasPrefix("system.")
            return (database.isEmpty || database == namespace.database)
                && (isAny || collection == namespace.collection)
        }
    }
}
