internal import BSON
internal import CMongoC

/// A member of the deployment, by the number that the driver has for it as long as the pool lives.
package struct Member: Hashable, Sendable {
    let id: UInt32
}

/// Reads that stay with one member, in one session: another member's answer would be no answer.
package struct MemberReads {
    /// What the driver adds to every command.
    let options: BSONDocument
    /// What it adds to those that begin to read.
    let startOptions: BSONDocument

    /// Takes the session as it stands: later reads see at least what it has seen so far.
    /// - Throws: ``MongoError``.
    package init(by member: Member, in session: borrowing Session) throws(MongoError) {
        var options = BSONBuilder(continuing: try session.options())
        options.append("serverId", .integer(Int(member.id)))
        self.options = options.finish()
        // The driver makes only those reads causal that it may repeat, and it repeats them wherever it likes.
        let time = session.operationTime
        let concern: BSONDocument =
            time > 0 ? ["level": "majority", "afterClusterTime": .timestamp(time)] : ["level": "majority"]
        options.append("readConcern", .object(concern))
        startOptions = options.finish()
    }
}

/// The process that a member is.
///
/// While it stays the same, so do the numbers of the records that a majority had when it was asked. A server that was killed
/// does the writes since its last checkpoint anew when it starts, and numbers what they inserted anew; one that rolls back
/// does that with what came after a majority's last point alone.
package struct MemberProcess: Hashable, Sendable {
    private let id: BSONValue

    init?(_ hello: BSONDocument) {
        guard let id = hello["topologyVersion"]?.document?["processId"] else { return nil }
        self.id = id
    }
}

extension ServerHello {
    /// The process of a member; `nil` of a server before 4.4.
    package var process: MemberProcess? { MemberProcess(reply) }
}

extension MongoCollection {
    /// What the member that reads says of itself.
    /// - Throws: ``MongoError``.
    package func hello(of reads: MemberReads) throws(MongoError) -> ServerHello {
        ServerHello(
            try lease.run(
                .raw, ["hello": 1], on: "admin", options: reads.options, readPreference: .whoeverIsAsked))
    }
}

extension ReadPreference {
    /// Whatever the member has become meanwhile, it answers.
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
