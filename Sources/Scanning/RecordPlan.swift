import BSON
import Mongo

/// A record of a collection, and whose it is.
struct Record: Hashable, Sendable {
    /// The number that the member has for it: it grows with the order of insertion there.
    let place: Int64
    /// The document's `_id`.
    let id: BSONValue
}

/// A part of a collection in the order in which one member keeps its records: behind `after`, up to and with `through`.
struct RecordRange: Hashable, Sendable {
    /// The record that the part before ends with; `nil` for the collection's start.
    let after: Record?
    /// The last record; `nil` for the collection's end.
    let through: Record?
}

/// How a collection is read in the order of its records: by which member, and what is known of its records.
struct RecordPlan: Sendable {
    /// Who reads: nobody else's records have the same numbers.
    let member: Member
    /// The member's process: in another one its records may have other numbers.
    let process: MemberProcess
    /// A few records all over the collection, in their order.
    let known: [Record]
    /// The parts, which hold every record that there is, and that will be.
    let ranges: [RecordRange]
}

extension RecordPlan {
    /// Plans it for a collection that is read in about `count` parts.
    /// - Returns: `nil` where records cannot be read so: behind a router, by a server before 4.4, where the collection
    ///   drops its oldest records, or keeps them by `_id`, and where the user may not ask.
    /// - Throws: ``MongoError`` that is the deployment's, and no answer to what was asked.
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
            // Whether the server can go on behind a record shows now, and not when it has to.
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

    /// The records of these documents that are there now, in their order.
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
