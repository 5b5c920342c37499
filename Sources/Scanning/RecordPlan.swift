import BSON
import Mongo

/// The place where one replica set member stores a document, with the document's `_id`.
struct Record: Hashable, Sendable {
    /// The number of the record: its `$recordId` on the member.
    ///
    /// Later inserted documents have larger numbers.
    let place: Int64
    let id: BSONValue
}

/// A part of a collection, in the order of one member's record numbers: the records after `after`, up to and including
/// `through`.
struct RecordRange: Hashable, Sendable {
    /// The last record of the previous part; `nil` if this part starts at the beginning of the collection.
    let after: Record?
    /// The last record of this part; `nil` if this part extends to the end of the collection.
    let through: Record?
}

/// A plan to read a collection in the order in which one member stores the documents.
struct RecordPlan: Sendable {
    /// The member that reads the collection; on other members, the documents have other record numbers.
    let member: Member
    /// The process of the member when the plan was made; a member that was restarted may number its records
    /// differently.
    let process: MemberProcess
    /// Records from a sample of the whole collection, in ascending order; reading can resume after each of them that
    /// still exists.
    let known: [Record]
    /// The parts, which together contain all records, even those that are inserted later.
    let ranges: [RecordRange]
}

extension RecordPlan {
    /// Makes the plan for a collection that is read in about `count` parts.
    /// - Returns: `nil` if the collection cannot be read in the order of its records, for example because the
    ///   connection leads to a router or to a server before 4.4, the namespace is a view, the collection is capped or
    ///   clustered, or the user lacks a privilege.
    /// - Throws: ``MongoError`` if the error is transient, or the login is refused.
    static func make(
        for namespace: Namespace, on client: borrowing Client, parts count: Int
    ) throws(MongoError) -> RecordPlan? {
        do throws(MongoError) {
            let member = try client.readingMember()
            guard let info = try client.collectionInfo(namespace),
                info.kind == .collection, !info.isClustered, info.options["capped"]?.isTrue != true
            else { return nil }
            let session = try client.startSession()
            let collection = client.collection(namespace)
            let reads = try MemberReads(by: member, in: session)
            let hello = try collection.hello(of: reads)
            guard hello.topology != .sharded, let process = hello.process else { return nil }
            let ids = try IDRange.sample(collection, size: max(1, count) * IDRange.samplesPerRange)
            let known = try records(of: ids, in: collection, reads)
            // Test now whether the server can resume after a record. When a cursor is lost, it is too late to choose
            // another order of reading.
            var cursor = collection.records(
                reads, after: known.first?.place, batchSize: 1, comment: "shipshape check")
            guard try cursor.advance(), known.count < 2 || cursor.position != nil else { return nil }
            let ranges = ranges(between: known, count: count)
            return RecordPlan(member: member, process: process, known: known, ranges: ranges)
        } catch {
            guard !error.isTransient, !error.isAuthentication else { throw error }
            return nil
        }
    }

    /// Returns the records of the documents with these `_id`s, in the order in which the member stores them.
    ///
    /// Documents that no longer exist are left out.
    static func records(
        of ids: [BSONValue], in collection: MongoCollection, _ reads: MemberReads
    ) throws(MongoError) -> [Record] {
        guard !ids.isEmpty else { return [] }
        let found = try collection.findBatch(
            [
                "filter": ["_id": ["$in": .array(of: ids)]], "projection": ["_id": 1], "showRecordId": true,
                "batchSize": .integer(ids.count + 1),
            ], by: reads)
        return found.compactMap { document in
            guard case .long(let place)? = document["$recordId"], let id = document["_id"] else { return nil }
            return Record(place: place, id: id)
        }.sorted { $0.place < $1.place }
    }

    private static func ranges(between known: [Record], count: Int) -> [RecordRange] {
        let bounds = (1..<max(1, count)).map { known.count * $0 / count }.filter { $0 > 0 }
        let records = Set(bounds).sorted().filter { $0 < known.count }.map { known[$0] }
        return zip([nil] + records.map(Optional.some), records.map(Optional.some) + [nil])
            .map(RecordRange.init)
    }
}
