package import BSON
import Concurrency
import Mongo

/// The collection `enforced`: one record for each collection whose validator `enforce` changes.
///
/// A record shows the stage that the validator has reached, and the validation of the collection before `enforce`
/// began.
///
/// The record is written before and after each change of the validator. Between these writes, the runner that makes the
/// change holds the record, at most for the time of its lease. A change of a record succeeds only if the record still
/// has the revision that the runner read, so only one of two concurrent runners succeeds.
package struct EnforcementStore {
    /// A collection's record, as it was read from the state database.
    package struct Record: Sendable {
        /// The stage to which the last step leads, such as `warn` or `error`, or ``EnforcementStore/abort``.
        package let step: String
        /// Whether ``step`` was recorded as done.
        package let isDone: Bool
        package let validator: BSONDocument
        /// The collection's validation before the first step.
        package let before: Validation
        package let uuid: BSONValue
        /// The operator who began the last step.
        package let person: String
        /// The time at which the last step began or ended, by the server's clock; `nil` if the record has no valid
        /// time.
        package let time: ServerTime?
        let revision: Int
    }

    /// The step that restores the earlier validator.
    package static var abort: String { "abort" }

    /// The longest time, by the server's clock, for which a runner holds the record for one step; a caller can set
    /// another time.
    package static var leaseTime: Duration { .seconds(30) }

    private static var collection: String { "enforced" }

    private let client: StoreClient
    private let namespace: Namespace
    private let identity: RunnerIdentity

    /// Creates the store for a collection; reads nothing.
    package init(_ namespace: Namespace, client: StoreClient, identity: RunnerIdentity = .current()) {
        (self.namespace, self.client, self.identity) = (namespace, client, identity)
    }

    private var id: BSONValue { .string("\(namespace)") }

    /// Returns the collection's record; `nil` before the first step of its enforcement.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func record() throws -> Record? {
        guard let document = try client.firstChecked(Self.collection, ["_id": id]) else { return nil }
        guard let validator = document["validator"]?.stored, let before = document["before"]?.document,
            let earlier = before["validator"]?.stored
        else { throw client.damage("a validator is not one", of: document, in: Self.collection) }
        return Record(
            step: document["step"]?.text ?? "", isDone: document["done"]?.isTrue ?? false, validator: validator,
            before: Validation(
                earlier, level: before["level"]?.text ?? "strict", action: before["action"]?.text ?? "error"),
            uuid: document["uuid"] ?? .null, person: document["by"]?.text ?? "",
            time: ServerTime(document["at"]), revision: document["revision"]?.integer ?? 0)
    }

    /// Whether the record in the database still has the revision of `record`, so that no step began or ended since
    /// then.
    package func isCurrent(_ record: Record) throws -> Bool { try self.record()?.revision == record.revision }

    /// Records that this runner is about to do a step, and holds the record for it.
    /// - Parameters:
    ///   - record: the record that was read; `nil` if there was none.
    ///   - fresh: for a new enforcement, the validator to enforce, the collection's validation so far, and its UUID;
    ///     `nil` to continue an enforcement.
    /// - Returns: the record after this write.
    /// - Throws: ``RunError`` of kind `leaseHeld` if another runner changed the record first, or holds it;
    ///   ``MongoError``.
    package func begin(
        _ step: String, after record: Record?, fresh: (validator: BSONDocument, before: Validation, uuid: BSONValue)?,
        for leaseTime: Duration = Self.leaseTime
    ) throws -> Record {
        // Only one of two concurrent runners creates the record. Afterwards, only the runner that first changes the
        // revision succeeds.
        if record == nil { try client.createIfAbsent(Self.collection, id: id, Self.document(fresh, step: "before")) }
        let holder = try client.first(Self.collection, ["_id": id])?["holder"]?.document.flatMap(RunnerIdentity.init)
        var free: [BSONValue] = [
            ["until": ["$exists": false]], ["$expr": ["$lt": ["$until", "$$NOW"]]],
            ["holder.owner": .objectID(identity.owner)],
        ]
        if let holder, identity.knowsDead(holder) { free.append(["holder.owner": .objectID(holder.owner)]) }
        var fields: BSONDocument = [
            "step": .string(step), "done": false, "revision": ["$add": ["$revision", 1]],
            "by": ["$literal": .string(Operator.current)], "at": "$$NOW",
            "holder": ["$literal": .object(identity.document)],
            "until": ["$add": ["$$NOW", .long(leaseTime.milliseconds)]],
        ]
        if let fresh {
            for name in ["validator", "before", "uuid"] {
                fields = fields.appending(name, ["$literal": Self.document(fresh, step: step)[name] ?? .null])
            }
        }
        let filter: BSONDocument = [
            "_id": id, "revision": .integer(record?.revision ?? 0), "$or": .array(of: free),
        ]
        guard try client.modify(Self.collection, filter, [["$set": .object(fields)]]) != nil,
            let begun = try self.record()
        else { throw try held() }
        return begun
    }

    /// Records that the step is done, and releases the record.
    /// - Throws: ``RunError`` of kind `leaseLost` if another runner took the record over; ``MongoError``.
    package func end(_ record: Record) throws {
        guard try letGo(of: record, ["done": true, "revision": ["$add": ["$revision", 1]], "at": "$$NOW"]) else {
            throw RunError(
                .leaseLost,
                "another runner took over \(namespace) while this one was stopped: see its state with --status")
        }
    }

    /// Releases the record of a step that the server did not accept; the record still shows the step as not done.
    package func leave(_ record: Record) throws { _ = try letGo(of: record, [:]) }

    private func letGo(of record: Record, _ fields: BSONDocument) throws(MongoError) -> Bool {
        let filter: BSONDocument = [
            "_id": id, "revision": .integer(record.revision), "holder.owner": .objectID(identity.owner),
        ]
        let ended = fields.appending("holder", "$$REMOVE").appending("until", "$$REMOVE")
        return try client.modify(Self.collection, filter, [["$set": .object(ended)]]) != nil
    }

    private func held() throws -> RunError {
        let document = try client.first(
            Self.collection, ["_id": id], adding: ["remaining": ["$subtract": ["$until", "$$NOW"]]])
        let holder = document?["holder"]?.document.flatMap(RunnerIdentity.init)
        guard let holder, let remaining = document?["remaining"]?.integer, remaining > 0 else {
            return RunError(
                .leaseHeld,
                "another runner changed \(namespace) in the meantime: see its state with --status, and run this again")
        }
        return RunError(
            .leaseHeld,
            "\(namespace) is being changed by process \(holder.process) on host \(holder.host), which has "
                + "\((remaining + 999) / 1_000) s left for it")
    }

    /// Returns the fields of a new record; no fields if `fresh` is `nil`.
    ///
    /// Validators are stored as bytes, because not every server version stores field names that begin with a dollar
    /// sign.
    private static func document(
        _ fresh: (validator: BSONDocument, before: Validation, uuid: BSONValue)?, step: String
    ) -> BSONDocument {
        guard let fresh else { return [:] }
        return [
            "version": 1, "validator": .stored(fresh.validator), "uuid": fresh.uuid,
            "before": [
                "validator": .stored(fresh.before.validator), "level": .string(fresh.before.level),
                "action": .string(fresh.before.action),
            ], "step": .string(step), "done": true, "revision": 0,
        ]
    }
}

extension BSONValue {
    fileprivate static func stored(_ document: BSONDocument) -> BSONValue {
        .binary(subtype: 0, bytes: document.bytes)
    }

    fileprivate var stored: BSONDocument? {
        guard case .binary(_, let bytes) = self else { return nil }
        return try? BSONDocument(bytes: bytes)
    }
}
