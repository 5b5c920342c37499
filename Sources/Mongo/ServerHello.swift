package import BSON

/// A server's description of itself: the reply to `hello`.
package struct ServerHello: Sendable {
    package enum Topology: String, Sendable {
        /// One server that is not a member of a replica set.
        case standalone
        /// A member of a replica set.
        case replicaSet
        /// A router of a sharded cluster.
        case sharded
    }

    package let topology: Topology
    /// Whether the server accepts writes.
    package let isWritablePrimary: Bool
    /// The name of the replica set that the server belongs to; `nil` if it belongs to none.
    package let setName: String?
    /// The address of the primary, as this server knows it; `nil` if it knows no primary.
    package let primary: String?
    /// The newest version of the wire protocol that the server supports: 9 is 4.4, 13 is 5.0, 17 is 6.0, 21 is 7.0, 25
    /// is 8.0.
    package let maxWireVersion: Int
    /// The whole reply to `hello`, for fields that have no property of their own, such as `lastWrite`, `electionId` and
    /// `hosts`.
    package let reply: BSONDocument

    package static let wireVersionOf50 = 13

    package static let wireVersionOf82 = 27

    init(_ reply: BSONDocument) {
        setName = reply["setName"]?.text
        let isRouter = reply["msg"]?.text == "isdbgrid"
        topology = isRouter ? .sharded : setName == nil ? .standalone : .replicaSet
        isWritablePrimary = (reply["isWritablePrimary"] ?? reply["ismaster"])?.isTrue ?? false
        primary = reply["primary"]?.text
        maxWireVersion = reply["maxWireVersion"]?.integer ?? 0
        self.reply = reply
    }
}

/// A server's version and build: the reply to `buildInfo`.
package struct BuildInfo: Sendable {
    /// The version, such as "6.0.5".
    package let version: String
    /// The version as numbers, the major version first.
    package let numbers: [Int]
    /// The whole reply to `buildInfo`, for fields that have no property of their own.
    package let reply: BSONDocument

    init(_ reply: BSONDocument) {
        version = reply["version"]?.text ?? ""
        numbers = reply["versionArray"]?.document?.values.compactMap(\.integer) ?? []
        self.reply = reply
    }

    /// Whether the server has the version of the given numbers or a later one.
    package func isAtLeast(_ major: Int, _ minor: Int = 0) -> Bool {
        !numbers.lexicographicallyPrecedes([major, minor])
    }
}
