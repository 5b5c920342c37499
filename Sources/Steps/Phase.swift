package import BSON
import Checking
import JobState
package import Jobs
import Mongo
import ServerSchema

/// The steps of a job whose changes are written together: either steps that one update runs, or one client-side step.
///
/// A document completes a phase before it enters the next one.
package struct Phase: Sendable {
    /// The steps in their order; each step reads what the steps before it wrote.
    package private(set) var steps: [CompiledStep]
    /// The steps that might make a syncing document unsyncable; none if no App Services schema is known.
    package private(set) var riskySteps: [CompiledStep]

    /// The steps that one update runs together, as ranges of indexes in ``steps``.
    ///
    /// A phase of a job has one range. The result of ``init(joining:)`` has one for each of the joined phases.
    package let parts: [Range<Int>]

    /// The names of the top-level fields that the steps may write or remove, sorted by their bytes.
    package let touched: [String]
    /// Steps of other phases; ``touched`` also includes the fields that these steps write or remove.
    private let alsoTouching: [CompiledStep]
    /// Whether a step may remove or move a top-level field.
    package let removesFields: Bool

    /// Whether the server evaluates the steps for every document, because the client does it in another way.
    package private(set) var isLeftToServer = false

    /// The steps of the phases before this one.
    private(set) var earlier: [CompiledStep] = []
    /// Conditions by the `_id`s of documents; the client found that these documents do not need the client-side steps
    /// of earlier phases.
    ///
    /// A document meets its condition as long as the document is unchanged.
    private var cleared: [BSONValue: Expression] = [:]

    /// Creates a phase of steps.
    /// - Parameters:
    ///   - others: steps outside of the phase; ``touched`` includes the fields that they write or remove.
    ///   - isRisky: whether a step might make a syncing document unsyncable.
    package init(_ steps: [CompiledStep], touching others: [CompiledStep] = [], isRisky: (CompiledStep) -> Bool) {
        self.steps = steps
        riskySteps = steps.filter(isRisky)
        parts = [steps.indices]
        touched = (steps + others).touchedTopLevel
        alsoTouching = others
        removesFields = steps.contains { $0.step.kind.removesFields }
    }

    /// Returns a copy of the phase whose client-side step has read the data that it needs to evaluate documents.
    package func prepared(in context: ClientContext) throws -> Phase {
        guard var step = steps.first, let transform = step.transform else { return self }
        do {
            try transform.collect(into: &step.preparation, in: context)
        } catch let error as RunError {
            throw error.located(at: step.location)
        } catch let error as MongoError where error.isAuthorization {
            throw RunError(
                .lookupUnreadable,
                "\(step.step) reads a collection that this user cannot read: grant `find` on it (\(error))"
            ).located(at: step.location)
        }
        let isRisky = !isSafe
        return Phase([step]) { _ in isRisky }
    }

    /// Returns the phase with the schemas by which its client-side step checks the documents that it creates.
    ///
    /// Each created document is checked by every one of `schemas` that covers the document's collection.
    func judgingChildren(by schemas: [ServerSchema?], assuming assumptions: CheckOptions) -> Phase {
        guard var step = steps.first, let namespace = step.step.kind.creates else { return self }
        step.preparation.schemas = schemas.compactMap { schema in
            (schema?[namespace] ?? schema?.neighbours.first { $0.namespace == namespace }).map {
                CompiledSchema($0, of: schema, options: assumptions)
            }
        }
        let isRisky = !isSafe
        return Phase([step]) { _ in isRisky }
    }

    /// Returns the phase with every `$now` and `$$NOW` replaced by `now`, in milliseconds since 1970.
    ///
    /// A client-side step contains no `$now`.
    package func resolved(at now: Int64) -> Phase {
        let risky = Set(riskySteps.map { $0.step.resolved(at: now) })
        let resolved = steps.map { step in
            guard step.client == nil else { return step }
            var resolved = CompiledStep(step.step.resolved(at: now), altered: step.altered, guards: step.guards)
            resolved.location = step.location
            return resolved
        }
        var phase = Phase(resolved, touching: alsoTouching) { risky.contains($0.step) }
        phase.isLeftToServer = isLeftToServer
        return phase
    }

    /// Returns the phase, whose steps the server evaluates for every document.
    func leftToServer() -> Phase {
        var phase = self
        phase.isLeftToServer = true
        return phase
    }

    /// Returns the phase with the condition `altered` in all of its steps.
    ///
    /// A document meets the condition if a write by the server would change more of it than the steps change.
    func knowing(_ altered: AlteredDocument) -> Phase {
        var phase = self
        phase.steps = steps.map { $0.knowing(altered) }
        phase.riskySteps = riskySteps.map { $0.knowing(altered) }
        phase.earlier = earlier.map { $0.knowing(altered) }
        return phase
    }

    /// Joins the phases of a job into one phase, whose conditions and fields are those of the whole job.
    package init(joining phases: [Phase]) {
        steps = phases.flatMap(\.steps)
        riskySteps = phases.flatMap(\.riskySteps)
        parts = phases.reduce(into: []) { parts, phase in
            let start = parts.last?.upperBound ?? 0
            parts.append(start..<start + phase.steps.count)
        }
        touched = steps.touchedTopLevel
        alsoTouching = []
        removesFields = phases.contains(where: \.removesFields)
        isLeftToServer = phases.contains(where: \.isLeftToServer)
    }

    /// Whether no step might make a syncing document unsyncable.
    ///
    /// If `false`, each chunk is checked before it is written.
    package var isSafe: Bool { riskySteps.isEmpty }

    /// The condition that a document needs the phase.
    ///
    /// The document needs at least one step, is not locked by the sync translator, and has completed the earlier
    /// phases.
    package var needs: Expression { .all([steps.need, SyncLock.isFree] + conditions(of: cleared.keys)) }
    /// The condition that a document needs at least one step and is locked by the sync translator.
    ///
    /// The lock comes first, because the server may fail to evaluate the need for a document.
    var lockedNeeds: Expression { !SyncLock.isFree && steps.need }

    /// The update pipeline for documents that are known to meet ``needs``.
    ///
    /// ``needs`` has already tested whether the server would change more of a document than the steps change. The
    /// pipeline does not repeat this test, because the test costs as much as the update.
    package var neededPipeline: [BSONDocument] { steps.updateOfNeeding }

    package var isServerSide: Bool { steps.allSatisfy { $0.client == nil } }
}

/// The conditions that exclude documents which have not completed the earlier phases.
///
/// If a later phase changed a document that an earlier phase still has to change, it could remove fields that the
/// earlier phase reads.
///
/// An earlier phase may have skipped the document, because it was locked or could not be written. Or another client
/// added or changed the document after the runner had read that part of the collection.
extension Phase {
    /// Returns the phases of a job, each with the steps of the phases before it.
    static func inOrder(_ phases: [Phase]) -> [Phase] {
        phases.indices.map { index in
            var phase = phases[index]
            phase.earlier = phases[..<index].flatMap(\.steps)
            return phase
        }
    }

    /// The client-side steps of the earlier phases.
    ///
    /// The server alone cannot determine whether a document needs these steps.
    package var earlierOfClient: [CompiledStep] { earlier.filter { $0.client != nil } }

    /// Returns the phase with conditions for the documents that the client found not to need the client-side steps of
    /// earlier phases.
    /// - Parameter cleared: the conditions by `_id`. Each holds only for the document with that `_id`, and only while
    ///   the document is unchanged.
    package func clearing(_ cleared: [BSONValue: Expression]) -> Phase {
        var phase = self
        phase.cleared = cleared
        return phase
    }

    /// The condition that a document has completed the earlier phases; `nil` if no earlier phase has a condition.
    package var isThrough: Expression? {
        let conditions = conditions(of: cleared.keys)
        return conditions.isEmpty ? nil : .all(conditions)
    }

    /// The conditions that the documents with the given `_id`s have completed the earlier phases; empty if this phase
    /// is the first one.
    ///
    /// The conditions for other documents are left out to keep commands small: a chunk of a client-side step sends the
    /// conditions with each of its updates.
    package func conditions(of ids: some Sequence<BSONValue>) -> [Expression] {
        let ofClient = earlierOfClient
        return serverConditions
            + (ofClient.isEmpty ? [] : [.any([!ofClient.need] + ids.compactMap { cleared[$0] })])
    }

    private var serverConditions: [Expression] {
        let ofServer = earlier.filter { $0.client == nil }
        return ofServer.isEmpty ? [] : [!ofServer.need]
    }

    /// A cheap server-side condition that every document needing the phase meets; the write checks the exact condition.
    package var mayNeed: Expression { .all([.any(steps.map(\.mayNeed)), SyncLock.isFree] + serverConditions) }
}

extension [CompiledStep] {
    /// The update pipeline for documents that are known to need at least one of the steps.
    package var updateOfNeeding: [BSONDocument] { count == 1 ? [self[0].soleStage] : map(\.writeStage) }

    /// The names of the top-level fields that the steps may write or remove, each once, sorted by their bytes.
    var touchedTopLevel: [String] {
        Set(flatMap { $0.step.kind.touched.map { $0.components[0] } }).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
    }
}
