import BSON
import Mongo
import TestSupport

@testable import JobState

/// Checks of the conditions that must hold even if runs were killed or stopped and users wrote at the same time.
extension PropertyCase {
    /// Returns the documents that must exist: each as a user last wrote it, or as it was at the start if no user wrote
    /// it.
    private func lastSeen() async -> [PropertyKey: BSONDocument] {
        var documents = original
        for (key, document) in await user.left { documents[key] = document }
        return documents
    }

    /// Checks the documents and the report after the last run, and that another run changes nothing.
    ///
    /// No write of a user may be lost, and each document must have the job's result or be counted as skipped.
    func checkEnd(_ last: ProgramRun) async throws {
        let found = try await test.database.keyed()
        let seen = await lastSeen()
        let touched = await user.left
        for key in found.keys where seen[key] == nil {
            throw violation(.document, "_id \(key) is there and should not be")
        }
        let made = try await expected(of: seen)
        for (key, document) in seen {
            guard let end = found[key] else { throw violation(.document, "_id \(key) is lost") }
            guard end == made[key] || touched[key] != nil && end.isMerely(made[key]) else {
                let wanted = made[key]?.json ?? "missing"
                throw violation(.document, "_id \(key):\n  was  \(document.json)\n  is   \(end.json)\n  want \(wanted)")
            }
        }
        try checkListed(seen, in: last)
        let again = try await backfill()
        guard try report(again)["changed"] == 0 else {
            throw violation(.secondRun, "a second run changes documents: \(again.output)")
        }
        guard try await test.database.keyed() == found else {
            throw violation(.secondRun, "a second run changed documents")
        }
    }

    /// Checks that the report shows no document that still needs the job.
    ///
    /// If the test can compute the effect of every step itself, the function also checks how many documents the report
    /// lists as skipped.
    ///
    /// - Parameter seen: the documents before the job's writes.
    private func checkListed(_ seen: [PropertyKey: BSONDocument], in run: ProgramRun) throws {
        var listed = job.steps.map { _ in [String: Int]() }
        for document in seen.values {
            for (step, reason) in try (job.outcome(of: document)?.skipped ?? []).enumerated() {
                if let reason { listed[step][reason, default: 0] += 1 }
            }
        }
        let steps = try report(run)["steps"]?.document?.values.compactMap(\.document) ?? []
        for (index, step) in steps.enumerated() {
            guard step["needing_after"] == 0 else { throw violation(.listing, "documents still need step \(index)") }
            guard job.isKnown else { continue }
            let reported = step["left_alone"]?.document?.values.compactMap(\.document) ?? []
            let pairs = reported.map { ($0["reason"]?.text ?? "", $0["documents"]?.integer ?? 0) }
            guard Dictionary(uniqueKeysWithValues: pairs) == listed[index] else {
                throw violation(.listing, "step \(index) lists \(pairs), and \(listed[index]) do not fit")
            }
        }
    }

    func report(_ run: ProgramRun) throws -> BSONDocument {
        do {
            if let report = try BSONValue(extendedJSON: run.output).document { return report }
            throw violation(.ending, "no report, \(run.status): \(run.errors)")
        } catch {
            throw violation(.ending, "\(error) in \(run.output), \(run.status): \(run.errors)")
        }
    }

    /// Checks that a document no longer needs the job if the journal has it, because both are one transaction.
    ///
    /// The check leaves out documents that users have changed, and all documents of a job with several phases.
    func checkAcknowledged() async throws {
        try await test.mongod.waitForNoCommand(of: test.appName)
        guard try compiled().hasOnePhase else { return }
        let (touched, found) = (await user.left, try await test.database.keyed())
        let written = try await acknowledged().filter { touched[$0] == nil }
        let documents = found.filter { written.contains($0.key) }
        let made = try await expected(of: documents)
        for (key, document) in documents where made[key] != document {
            throw violation(.acknowledged, "the journal says that _id \(key) was written, and it still needs the job")
        }
    }

    /// Returns the `_id`s of the documents that the journal has.
    private func acknowledged() async throws -> Set<PropertyKey> {
        var keys: Set<PropertyKey> = []
        for document in try await test.state.documents("journal", ["_id.range": 0]) {
            guard let part = try JournalPart(document) else { continue }
            keys.formUnion(part.entries.map { PropertyKey($0.id) })
        }
        return keys
    }
}

extension BSONDocument {
    var json: String { (try? extendedJSON()) ?? "\(bytes)" }

    /// Whether the other document has the same fields in any order; `false` if there is no other document.
    ///
    /// A job may add its fields in another order than the test expects. For example, a user changes the source field of
    /// the first step after the runner has journaled the document. The runner's write then makes only the change of the
    /// second step, and a later write makes the change of the first step.
    func isMerely(_ other: BSONDocument?) -> Bool {
        other.map { $0.inOrderOfNames == inOrderOfNames } ?? false
    }

    private var inOrderOfNames: BSONDocument {
        let fields = ((try? elements()) ?? []).map { name, value -> (String, BSONValue) in
            guard case .object(let inner) = value else { return (name, value) }
            return (name, .object(inner.inOrderOfNames))
        }
        return BSONDocument(fields.sorted { $0.0 < $1.0 })
    }
}
