internal import BSON

/// A member of the deployment, identified by the number that the driver has given to it.
///
/// The number is valid as long as the ``ClientPool`` exists.
package struct Member: Hashable, Sendable {
    let id: UInt32
}

/// The settings of reads that stay with one member and one session.
///
/// Reads by record number (see ``RecordCursor``) need them, because the numbers differ between members.
package struct MemberReads {
    /// The options of a command that does not begin a read, such as `getMore`: the session and the member.
    let options: BSONDocument
    /// The options of a command that begins a read: the session, the member and the read concern.
    let startOptions: BSONDocument

    /// Creates the settings from a session's current state; the reads see at least what the session has seen so far.
    package init(by member: Member, in session: borrowing Session) throws(MongoError) {
        var options = BSONBuilder(continuing: try session.options())
        options.append("serverId", .integer(Int(member.id)))
        self.options = options.finish()
        // The driver adds causal consistency only to reads that it may retry on any member. These reads stay on one
        // member, so the read concern is added here.
        let time = session.operationTime
        let concern: BSONDocument =
            time > 0 ? ["level": "majority", "afterClusterTime": .timestamp(time)] : ["level": "majority"]
        options.append("readConcern", .object(concern))
        startOptions = options.finish()
    }
}

/// The server process of a member, which changes when the server restarts.
///
/// A record is the storage engine's entry for a document. Once a majority of the members has a record, the record keeps
/// its number until the process changes. When a killed server starts again, it repeats the writes since its storage
/// engine's last checkpoint, and gives the inserted records new numbers. A rollback gives new numbers only to records
/// that a majority did not have.
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

extension ReadPreference {
    /// The read preference of a command that names its member in `serverId`.
    ///
    /// The member answers even if it has become a primary or a secondary since this program chose it.
    static let chosenMember = ReadPreference.primaryPreferred
}
