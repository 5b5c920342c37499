package import BSON
package import Checking
import Mongo

/// The session of one thread's reads.
struct ScanSession: ~Copyable {
    private let session: Session
    /// Where the parts come from.
    let queue: RangeQueue
    /// As an option of a read.
    let options: BSONDocument
    /// For the parts that one member reads.
    let reads: MemberReads?

    /// - Parameter start: the cluster time from before which nothing may be read.
    init(_ queue: RangeQueue, _ client: borrowing Client, from start: ClusterTime? = nil) throws(MongoError) {
        let session = try client.startSession()
        if let start { session.advance(to: start.rawValue) }
        let options = try session.options()
        let reads: MemberReads? = if let member = queue.member { try MemberReads(by: member, in: session) } else { nil }
        self.init(session: session, queue: queue, options: options, reads: reads)
    }

    private init(session: consuming Session, queue: RangeQueue, options: BSONDocument, reads: MemberReads?) {
        self.session = session
        self.queue = queue
        self.options = options
        self.reads = reads
    }

    /// The cluster time of the last read; 0 of a server that has none.
    var operationTime: UInt64 { session.operationTime }
}

/// What a scan of a live collection found, and what it can promise of that.
package struct ScanResult: Sendable {
    /// The counts and the groups.
    package var tally: Tally
    /// The moment at which they are true; `nil` when they are of no single moment.
    package var clusterTime: ClusterTime?
    /// The documents that changed during the scan and were judged again.
    package var changedCount = 0
    /// What is not promised, and why.
    package var missing: [MissingGuarantee] = []
}
