import BSON
import JobState
import Jobs
import Mongo
import Running
import Steps

/// Reads the documents that need a phase, with as much of each document as ``Detail`` says.
struct DueCursor: ~Copyable {
    enum Detail: Sendable {
        case id
        /// The fields that the phase touches, as they are before and after it, for the journal.
        case touched
        /// The whole document as it is before and after the phase.
        ///
        /// It is needed for a client-side step, and to judge whether the document becomes unsyncable.
        ///
        /// For a client-side step, the client computes the document after the phase. For other steps, the client or the
        /// server computes it.
        case whole
    }

    // Exactly one of the following three cursors is set; the scope, the phase and the detail decide which one.
    private var ids: Cursor?
    private var reading: DueReading?
    private var asked: AskedDocuments?
    private var isOver = false

    /// - Parameters:
    ///   - collectionUUID: the UUID of the collection for which the job was planned, so that the server refuses the
    ///     read if the collection was replaced; `nil` if the server cannot compare it.
    ///   - evidence: the fields of which the journal keeps a digest.
    ///   - watch: receives what the steps find in each document, if the client reads the whole collection; otherwise,
    ///     it is notified that the findings are unknown.
    init(
        _ scope: ReadScope, of phase: Phase, _ detail: Detail, in context: ClientContext, collectionUUID: BSONValue?,
        evidence: DocumentEvidence? = nil, watch: ChangeWatch? = nil
    ) throws(MongoError) {
        let evidence = evidence ?? DocumentEvidence([])
        // Only a `DueReading` reports to `watch` what the steps find in the documents; the other cursors do not.
        defer { if reading == nil { watch?.giveUp() } }
        reading = try DueReading(
            scope, of: phase, detail, in: context, collectionUUID: collectionUUID, evidence: evidence, watch: watch)
        guard reading == nil else { return }
        guard detail == .id else {
            asked = AskedDocuments(
                scope, of: phase, detail, in: context, collectionUUID: collectionUUID, evidence: evidence)
            return
        }
        let more: KeyValuePairs<String, BSONValue> = collectionUUID.map { ["collectionUUID": $0] } ?? [:]
        ids = context.collection.aggregate(
            scope.stages(where: phase.mayNeed, quick: phase.steps.quickNeed) + [["$project": ["_id": 1]]],
            options: scope.options("find", more))
    }

    /// Reads the `_id`s of all documents of a scope, without a look at what they need.
    init(all scope: ReadScope, in collection: MongoCollection, collectionUUID: BSONValue?) {
        let more: KeyValuePairs<String, BSONValue> = collectionUUID.map { ["collectionUUID": $0] } ?? [:]
        ids = collection.aggregate(
            scope.stages() + [["$project": ["_id": 1]]], options: scope.options("find", more))
    }

    /// Returns the next document that needs the phase; `nil` at the end.
    /// - Throws: ``DocumentFailure`` if the server cannot evaluate a document; ``MongoError``; ``RunError``.
    mutating func next() throws -> DueDocument? {
        // The driver does not allow another read from a cursor that has ended.
        guard !isOver else { return nil }
        let document = try blaming { try found() }
        isOver = document == nil
        return document
    }

    private mutating func found() throws -> DueDocument? {
        if let id = try nextID() { return DueDocument(id: id) }
        if let document = try reading?.next() { return document }
        return try asked?.next()
    }

    private mutating func nextID() throws -> BSONValue? {
        guard let view = try ids?.next(), let id = try view.find("_id") else { return nil }
        return try view.value(id)
    }

    /// Returns the next documents; empty at the end.
    ///
    /// The read ends when the documents reach `amount`, or when their `_id`s reach ``ReadAmount/maximumIDBytes``.
    /// - Parameter isAwaited: returns whether the caller has waited so long that the read may end early, with at least
    ///   ``ReadAmount/leastAwaited`` documents.
    mutating func read(_ amount: ReadAmount, isAwaited: () -> Bool = { false }) throws -> [DueDocument] {
        var documents: [DueDocument] = []
        var (bytes, idBytes) = (0, 0)
        while documents.count < amount.documents, bytes < amount.bytes, idBytes < ReadAmount.maximumIDBytes,
            documents.count < ReadAmount.leastAwaited || !isAwaited()
        {
            guard let document = try next() else { break }
            bytes += document.size
            idBytes += document.id.byteCount
            documents.append(document)
        }
        return documents
    }
}

/// The documents that need a phase and that the client does not evaluate, with their changes.
struct AskedDocuments: ~Copyable {
    // Exactly one of the following two cursors is set.
    private var touched: TouchedFields?
    private var preview: Preview?
    /// The fields whose positions in each document the journal needs; `nil` if the phase neither removes nor moves a
    /// field.
    ///
    /// Used only with ``preview``.
    private let placed: [String]?
    private let evidence: DocumentEvidence

    init(
        _ scope: ReadScope, of phase: Phase, _ detail: DueCursor.Detail, in context: ClientContext,
        collectionUUID: BSONValue?, evidence: DocumentEvidence
    ) {
        self.evidence = evidence
        placed = phase.isServerSide && phase.removesFields ? phase.touched : nil
        if detail == .touched {
            touched = TouchedFields(
                scope, of: phase, in: context.collection, collectionUUID: collectionUUID, evidence: evidence)
        } else {
            preview = Preview(scope, through: phase, in: context, onlyNeeding: true)
        }
    }

    mutating func next() throws -> DueDocument? {
        if let document = try touched?.next() { return document }
        while let outcome = try preview?.next() {
            guard let id = outcome.after["_id"], let before = outcome.before else { continue }
            let positions = try placed.map { try before.positions(of: $0) }
            return DueDocument(
                id: id,
                change: DueDocument.Change(
                    before: before, after: outcome.after, positions: positions,
                    evidence: try evidence.digest(of: before), created: outcome.change.created))
        }
        return nil
    }
}

/// The number of documents and of bytes at which the read of a chunk ends.
struct ReadAmount: Sendable {
    var documents: Int
    var bytes: Int

    /// The number of documents at which a read may end early because its caller has waited for too long.
    static let leastAwaited = 500
    /// The number of bytes of `_id`s at which the read of a chunk ends, because one command has to hold the `_id`s
    /// together with conditions and updates.
    static let maximumIDBytes = 3 << 20
}
