package import BSON
import Mongo

extension Mongod {
    /// Creates a user with a role of exactly these privileges, and returns the user's connection string.
    /// - Parameter privileges: privileges such as `["resource": ["db": "app", "collection": ""], "actions": ["find"]]`.
    package func addUser(_ name: String, privileges: [BSONValue]) async throws -> String {
        let role = "\(name)-role"
        try await admin(["createRole": .string(role), "privileges": .array(of: privileges), "roles": []])
        return try await addUser(name, roles: [.string(role)])
    }

    /// Creates a user with these roles, and returns the user's connection string.
    package func addUser(_ name: String, roles: [BSONValue]) async throws -> String {
        let password = "\(name)-password"
        try await admin(["createUser": .string(name), "pwd": .string(password), "roles": .array(of: roles)])
        return "mongodb://\(name):\(password)@\(host)/?replicaSet=shipshape"
    }
}
