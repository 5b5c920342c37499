internal import BSON
internal import CMongoC

/// A member of the deployment, identified by the driver's number for it, which is valid as long as the pool lives.
package struct Member: Hashable, Sendable {
    let id: UInt32
}

/// Reads that stay with one member and one session, because record numbers differ between members.
package struct MemberReads {
    /// The options that the driver adds to every command.
    let options: BSONDocument
    /// The options that the driver adds to commands that begin a read.
    let startOptions: BSONDocument

    /// Takes the session in its current state; later reads see at least the data that the session has seen so far.
    /// - Throws: ``MongoError``.
    package init(by member: Member, in session: borrowing Session) throws(MongoError) {
        var options = BSONBuilder(continuing: try session.options())
        options.append("serverId", .integer(Int(member.id)))
        self.options = options.finish()
        // The driver adds causal consistency only to reads that it may retry, and it may retry those on any member.
        let time = session.operationTime
        let concern: BSONDocument =
            time > 0 ? ["level": "majority", "afterClusterTime": .timestamp(time)] : ["level": "majority"]
        options.append("readConcern", .object(concern))
        startOptions = options.finish()
    }
}

/// The process of a member.
///
/// While the process is the same, the records that a majority had when it was asked keep their numbers. A server that
/// was killed repeats the writes since its last checkpoint when it starts, and numbers the inserted records again. A
/// server that rolls back does so only for the writes after the majority's last point.
package struct MemberProcess: Hashable, Sendable {
    private let id: BSONValue

    init?(_ hello: BSONDocument) {
        guard let id = hello["topologyVersion"]?.document?["processId"] else { return nil }
        self.id = id
    }
}

extension ServerHello {
    /// The process of a member; `nil` for a server older than 4.4.
    package var process: MemberProcess? { MemberProcess(reply) }
}

extension MongoCollection {
    /// Returns the reply to `hello` of the member that reads.
    /// - Throws: ``MongoError``.
    package func hello(of reads: MemberReads) throws(MongoError) -> ServerHello {
        ServerHello(
            try lease.run(
                .raw, ["hello": 1], on: "admin", options: reads.options, readPreference: .whoeverIsAsked))
    }
}

extension ReadPreference {
    /// Lets the chosen member answer, even if it has become a primary or a secondary since.
    static let whoeverIsAsked = ReadPreference(.primaryPreferred)
}

extension Client {
    /// Chooses a member by the client's read preference.
    ///
    /// The corresponding C function is `mongoc_client_select_server`.
    /// - Throws: ``MongoError``.
    package func readingMember() throws(MongoError) -> Member {
        var error = bson_error_t()
        let id = unsafe cmongoc_select_reader(lease.handle, &error)
        guard id > 0 else { throw lease.explained(MongoError(error, host: lease.host)) }
        return Member(id: id)
    }
}
