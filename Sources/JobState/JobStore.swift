package import BSON
import Checking
import Jobs
package import Mongo

/// The collection `jobs`: a record of each job that was ever started.
package struct JobStore {
    /// The version of the layout in which this program writes documents to the state database.
    package static let version = 4

    let client: StoreClient
    let job: String

    /// Returns the job's record in the collection `jobs`; `nil` before the job's first start.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func record() throws -> BSONDocument? { try client.firstChecked("jobs", ["_id": .string(job)]) }

    /// The text, the schemas and the collection that a started job is bound to.
    package struct Binding: Hashable {
        package var namespace: Namespace
        /// The collection's UUID; `nil` if the server reports none.
        var collectionUUID: BSONValue?
        package var text: String
        var schemas: [BSONDocument]
        /// The paths of the fields that the job writes, as ``text`` states them.
        ///
        /// The paths are stored so that an undo knows these fields, and can find another job that wrote one of them
        /// later.
        package var touched: [FieldPath]
        /// Whether a step sets an additional field, which the job file names with `once`, to mark the documents that it
        /// has changed.
        var hasMarkers: Bool
        /// The bounds of the `_id`s that the job covers, if the job is one part of a divided job; otherwise empty.
        package var bounds: BSONDocument = [:]
        /// The database that ``text`` names, if the job runs in another database; otherwise `nil`.
        package var movedFrom: String?

        package init(
            namespace: Namespace, collectionUUID: BSONValue?, text: String, schemas: [BSONDocument],
            touched: [FieldPath], hasMarkers: Bool
        ) {
            (self.namespace, self.collectionUUID, self.text) = (namespace, collectionUUID, text)
            (self.schemas, self.touched, self.hasMarkers) = (schemas, touched, hasMarkers)
        }

        var document: BSONDocument {
            var document: BSONDocument = [
                "version": .integer(JobStore.version), "ns": .string(namespace.description),
                "uuid": collectionUUID ?? .null, "text": .string(text),
                "schemas": .array(of: schemas.map { .object($0) }),
                "touched": .array(of: touched.map { .string($0.description) }), "journal": true,
            ]
            if let movedFrom { document = document.appending("from", .string(movedFrom)) }
            return bounds.isEmpty ? document : document.appending("bounds", .object(bounds))
        }

        /// Whether a job's stored record names the collection of this binding, but with another UUID.
        func hasAnotherUUID(than record: BSONDocument) -> Bool {
            record["ns"]?.text == namespace.description && record["uuid"] != (collectionUUID ?? .null)
        }

        /// Whether a job's stored record has the same text of the job file as this binding, apart from comments and
        /// layout.
        private func hasText(of record: BSONDocument) -> Bool {
            guard let stored = record["text"]?.text else { return false }
            return stored == text || JobFile.content(of: stored) == JobFile.content(of: text)
        }

        /// Returns a clause for a message that says what differs from the record of the job's first start; `nil` if
        /// nothing differs.
        ///
        /// The collection's UUID is not compared.
        func difference(from record: BSONDocument) -> String? {
            if record["ns"]?.text != namespace.description { return "its collection changed" }
            if !hasText(of: record) { return "the job file's text changed" }
            if record["schemas"]?.document?.values != schemas.map({ .object($0) }) {
                return "a schema that the job names changed"
            }
            if record["bounds"]?.document ?? [:] != bounds { return "the bounds of its parts changed" }
            return nil
        }
    }
}

extension JobStore {
    /// How many lines a job's log keeps; older lines are dropped.
    private static let logLength = 200

    /// Returns the operators' requests to the job; before the job's first start, there are none.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func control() throws -> Control {
        Control(try client.firstChecked("jobs", ["_id": .string(job)], projecting: ["control": 1]) ?? [:])
    }

    /// Returns the operator who recorded that the job's next schema is deployed, and the time; `nil` if nothing is
    /// recorded.
    ///
    /// If nothing is recorded for this job, the result is taken from another job with the same collection and the same
    /// next schema.
    /// - Parameter schemas: the schema files that the job is bound to, as its record holds them.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func deployMark(of namespace: Namespace, schemas: [BSONDocument]) throws -> Control.Mark? {
        if let own = try control().deployed { return own }
        let isNext = { (schema: BSONDocument) in schema["role"]?.text == "next" }
        let next = schemas.filter(isNext)
        guard !next.isEmpty else { return nil }
        var cursor = client.all("jobs", ["ns": .string("\(namespace)"), "control.deployed": ["$exists": true]])
        while let other = try cursor.nextDocument() {
            try client.check(other, of: "jobs")
            if (other["schemas"]?.document?.values ?? []).compactMap(\.document).filter(isNext) == next {
                return Control(other).deployed
            }
        }
        return nil
    }

    /// Changes fields of the job's record, and adds a line with the server's time to the job's log.
    /// - Parameters:
    ///   - changes: the fields to set, as for a pipeline's `$set`: keys are paths such as `control.paused`, and the
    ///     value `$$REMOVE` removes a field.
    ///   - what: the operator's action, for the log.
    ///   - person: the operator.
    /// - Returns: the job's record after the change; `nil` if the job was never started.
    @discardableResult
    package func steer(_ changes: BSONDocument, what: String, by person: String) throws(MongoError) -> BSONDocument? {
        let log: BSONValue = [
            "$slice": [
                ["$concatArrays": [["$ifNull": ["$log", []]], [Self.mark(by: person, ["what": .string(what)])]]],
                .integer(-Self.logLength),
            ]
        ]
        return try client.modify("jobs", ["_id": .string(job)], [["$set": .object(changes.appending("log", log))]])
    }

    /// Keeps the result of a comparison of the job's steps with the server's own results.
    package func keep(proof: BSONDocument) throws(MongoError) {
        _ = try client.modify("jobs", ["_id": .string(job)], [["$set": ["proof": ["$literal": .object(proof)]]]])
    }

    /// Records that the job's next schema is now the active one.
    /// - Returns: the job's record after the change; `nil` if the job was never started.
    @discardableResult
    package func recordDeploy(isVerified: Bool, by person: String) throws(MongoError) -> BSONDocument? {
        try steer(
            ["control.deployed": Self.mark(by: person, ["verified": .bool(isVerified)])],
            what: "next schema is active (\(isVerified ? "the validator confirms it" : "on the operator's word"))",
            by: person)
    }

    /// Returns an aggregation expression for a stored ``Control/Mark``: the operator, the server's time, and `fields`
    /// as literal values.
    package static func mark(by person: String, _ fields: BSONDocument = [:]) -> BSONValue {
        ["$mergeObjects": [["at": "$$NOW", "by": ["$literal": .string(person)]], ["$literal": .object(fields)]]]
    }
}

/// Searches for a job that wrote one of this job's fields later, or whose job file names a given collection.
extension JobStore {
    /// Returns the name of another job that may have written this job's fields later than this job, and was not undone;
    /// `nil` if there is none.
    ///
    /// Other parts of the same job are ignored. The times of the last writes are compared, not of the first starts,
    /// because a stopped job may resume after a job that was begun later.
    package func laterWriter(of record: BSONDocument) throws -> String? {
        let touched = record.touched
        guard let namespace = record["ns"], let wrote = try lastWrite(of: record) else { return nil }
        var cursor = client.all("jobs", ["ns": namespace, "_id": ["$ne": .string(job)]])
        while let other = try cursor.nextDocument() {
            try client.check(other, of: "jobs")
            guard let name = other["_id"], !CheckPart.areOfOneJob(job, name.text ?? ""),
                other.touched.contains(where: { one in touched.contains { one.overlaps($0) } }),
                let wroteToo = try lastWrite(of: other), wrote < wroteToo
            else { continue }
            if try hasWritten(name) { return name.text }
        }
        return nil
    }

    /// Returns the time of a job's last checkpoint, in milliseconds since 1970.
    ///
    /// Without a checkpoint, returns the time of the job's start; `nil` if that is not known either.
    private func lastWrite(of record: BSONDocument) throws -> Int64? {
        let ranges = try client.allChecked("ranges", ["_id.job": record["_id"] ?? .null])
        return ranges.compactMap { ServerTime($0["written"])?.milliseconds }.max()
            ?? ServerTime(record["created"])?.milliseconds
    }

    /// Whether the job file of another job names a collection, and that job may have changed documents and was not
    /// undone.
    ///
    /// The other job may rely on documents that this job created in the collection, because a job does not create a
    /// document that exists already.
    package func isNamedElsewhere(_ namespace: Namespace) throws -> Bool {
        var cursor = client.all("jobs", ["_id": ["$ne": .string(job)]])
        while let other = try cursor.nextDocument() {
            try client.check(other, of: "jobs")
            guard let name = other["_id"], other.names(namespace) else { continue }
            if try hasWritten(name) { return true }
        }
        return false
    }

    private func hasWritten(_ job: BSONValue) throws(MongoError) -> Bool {
        try client.count(
            "ranges",
            [
                "_id.job": job, "undo.ended": ["$exists": false],
                "$or": [["modified": ["$gt": 0]], ["lease": ["$exists": true]]],
            ]) > 0
    }
}

extension BSONDocument {
    /// The paths of the fields that the job writes, if this document is the record of a job; otherwise empty.
    package var touched: [FieldPath] {
        (self["touched"]?.document?.values ?? []).compactMap { $0.text.flatMap { try? FieldPath($0) } }
    }

    /// Whether the text of the job file in this job's record names a collection.
    ///
    /// The method searches the text for the collection's name, so a longer name that contains this name counts as well.
    /// A job can run in another database than its file names. In that case, the method searches for the name with the
    /// file's database.
    fileprivate func names(_ namespace: Namespace) -> Bool {
        let text = self["text"]?.text ?? ""
        guard let own = self["from"]?.text else { return text.contains(namespace.description) }
        let place = self["ns"]?.text.flatMap { Namespace($0) }
        let named = Namespace(database: own, collection: namespace.collection)
        return place?.database == namespace.database && text.contains(named.description)
    }
}
