package import BSON
package import Checking
import Mongo

/// The session in which one thread of a scan reads.
struct ScanSession: ~Copyable {
    private let session: Session
    /// The queue from which the thread takes the parts of the collection that it reads.
    let queue: RangeQueue
    let options: BSONDocument
    /// The settings for reading only from the queue's ``RangeQueue/member``; `nil` if any member may be read.
    let reads: MemberReads?

    /// Starts a session.
    /// - Parameter start: The earliest cluster time as of which documents may be read; `nil` for no limit.
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

    /// The cluster time of the last read; 0 if the server has none.
    var operationTime: UInt64 { session.operationTime }
}

/// The results of a scan of a live collection, and the guarantees that they lack.
package struct ScanResult: Sendable {
    /// The counts and the groups of findings.
    package var tally: Tally
    /// The cluster time as of which the results are consistent; `nil` if they are not consistent as of one time.
    package var clusterTime: ClusterTime?
    /// The number of documents that changed during the scan and were judged again.
    package var changedCount = 0
    /// The names of the unique indexes whose values were not compared.
    package var unjudgedKeys: [String] = []
    /// The guarantees that the results lack, each with the reason.
    package var missing: [MissingGuarantee] = []
}
