package import BSON
import Checking
import JobState
package import Jobs
import Mongo
import ServerSchema

/// A part of a job that is written at once: steps that one update runs together, or one step that the client computes.
///
/// A document completes a phase before it enters the next one.
package struct Phase: Sendable {
    /// The steps in their order; a later one sees what an earlier one wrote.
    package private(set) var steps: [CompiledStep]
    /// The steps that might make a syncing document unsyncable under the active schema: all that the schema alone does
    /// not prove harmless.
    package private(set) var riskySteps: [CompiledStep]
    /// The other steps, which leave every syncing document syncable.
    package private(set) var harmlessSteps: [CompiledStep]

    /// The steps of each part, by their indexes: one part, unless several phases are joined.
    package let parts: [Range<Int>]

    /// The document's top-level fields that the steps may write or remove, in the order of their names' bytes.
    package let touched: [String]
    /// Further steps whose fields count as touched.
    private let beside: [CompiledStep]
    /// Whether a top-level field may be removed or moved.
    package let removesFields: Bool

    /// The steps of the phases before this one.
    private(set) var earlier: [CompiledStep] = []
    /// Matches documents that need no earlier client-side step, as long as they stay as they were evaluated; `nil`
    /// until they are evaluated.
    private(set) var cleared: Expression?

    /// - Parameter others: further steps whose fields count as touched.
    /// Creates a phase of steps.
    package init(_ steps: [CompiledStep], touching others: [CompiledStep] = [], isRisky: (CompiledStep) -> Bool) {
        self.steps = steps
        riskySteps = steps.filter(isRisky)
        harmlessSteps = steps.filter { !isRisky($0) }
        parts = [steps.indices]
        touched = (steps + others).touchedTopLevel
        beside = others
        removesFields = steps.contains { $0.step.kind.removesFields }
    }

    /// Returns the phase with the data that its client-side step needs before the first document.
    package func prepared(in context: ClientContext) throws -> Phase {
        guard var step = steps.first, let client = step.transform else { return self }
        do {
            step.client = try client.prepared(in: context)
        } catch let error as RunError {
            throw error.located(at: step.location)
        } catch let error as MongoError where error.isAuthorization {
            throw RunError(
                .lookupUnreadable,
                "\(step.step) reads a collection that this user cannot read: grant `find` on it (\(error))"
            ).located(at: step.location)
        }
        let isRisky = !isHarmless
        return Phase([step]) { _ in isRisky }
    }

    /// Returns the phase whose client-side step checks the documents that it creates in another collection against
    /// those of the schemas that cover it.
    func judgingChildren(by schemas: [ServerSchema?], assuming assumptions: CheckOptions) -> Phase {
        guard var step = steps.first, let client = step.transform, let namespace = client.creates else { return self }
        let covering = schemas.compactMap { schema in
            (schema?[namespace] ?? schema?.neighbours.first { $0.namespace == namespace }).map {
                CompiledSchema($0, of: schema, options: assumptions)
            }
        }
        step.client = client.judging(by: covering)
        let isRisky = !isHarmless
        return Phase([step]) { _ in isRisky }
    }

    /// Returns the phase with a time in place of `$now`, in milliseconds since 1970; a client-side step has none.
    package func settled(at now: Int64) -> Phase {
        let risky = Set(riskySteps.map { $0.step.settled(at: now) })
        let settled = steps.map { step in
            guard step.client == nil else { return step }
            var settled = CompiledStep(step.step.settled(at: now), altered: step.altered)
            settled.location = step.location
            return settled
        }
        return Phase(settled, touching: beside) { risky.contains($0.step) }
    }

    /// Returns the phase with another condition for whether the server would alter the document.
    func knowing(_ altered: AlteredDocument) -> Phase {
        var phase = self
        phase.steps = steps.map { $0.knowing(altered) }
        phase.riskySteps = riskySteps.map { $0.knowing(altered) }
        phase.harmlessSteps = harmlessSteps.map { $0.knowing(altered) }
        phase.earlier = earlier.map { $0.knowing(altered) }
        return phase
    }

    /// Joins several phases into one, to see what a whole job does.
    package init(joining phases: [Phase]) {
        steps = phases.flatMap(\.steps)
        riskySteps = phases.flatMap(\.riskySteps)
        harmlessSteps = phases.flatMap(\.harmlessSteps)
        parts = phases.reduce(into: []) { parts, phase in
            let start = parts.last?.upperBound ?? 0
            parts.append(start..<start + phase.steps.count)
        }
        touched = steps.touchedTopLevel
        beside = []
        removesFields = phases.contains(where: \.removesFields)
    }

    /// Whether the values that the phase writes show which values they replaced; see ``StepKind/tellsWhatWas``.
    package var tellsWhatWas: Bool { steps.allSatisfy(\.step.kind.tellsWhatWas) }

    /// Whether no step can make a document unsyncable; otherwise each chunk is judged before it is written.
    package var isHarmless: Bool { riskySteps.isEmpty }

    /// The condition that a document needs any of the steps, is not locked, and has completed the earlier phases.
    package var needs: Expression { .all([steps.need, SyncLock.isFree] + conditions) }
    /// The condition that a document needs any of the steps and is locked.
    var lockedNeeds: Expression { steps.need && !SyncLock.isFree }

    /// The update that runs all server-side steps.
    package var pipeline: [BSONDocument] { steps.filter { $0.client == nil }.map(\.stage) }

    /// The same update for documents that are known to meet ``needs``: it does not check all of that again, which would
    /// cost as much as the update.
    package var neededPipeline: [BSONDocument] { steps.updateOfNeeding }

    /// Whether the server runs all steps.
    package var isServerSide: Bool { steps.allSatisfy { $0.client == nil } }
}

/// Documents that an earlier phase skipped stay unchanged; otherwise a step could remove what an earlier one still has
/// to read.
///
/// Such a document was locked, could not be written, or came or changed after the reader had passed it.
extension Phase {
    /// A cheap condition that every document needing the phase meets; `nil` if there is none.
    package var quickNeed: BSONDocument? { steps.quickNeed }

    /// Returns the phases of a job, each with the steps of the phases before it.
    static func inOrder(_ phases: [Phase]) -> [Phase] {
        phases.indices.map { index in
            var phase = phases[index]
            phase.earlier = phases[..<index].flatMap(\.steps)
            return phase
        }
    }

    /// The earlier client-side steps; the server alone cannot tell whether a document needs them.
    package var earlierOfClient: [CompiledStep] { earlier.filter { $0.client != nil } }

    /// Returns the phase for documents that the client has evaluated.
    package func clearing(_ cleared: [Expression]) -> Phase {
        var phase = self
        phase.cleared = .any([.constant(false)] + cleared)
        return phase
    }

    /// The condition that a document has completed the earlier phases; `nil` if there are none.
    package var isThrough: Expression? { conditions.isEmpty ? nil : .all(conditions) }

    /// The parts of ``isThrough``.
    package var conditions: [Expression] {
        let ofClient = earlierOfClient
        return serverConditions
            + (ofClient.isEmpty ? [] : [.any([!ofClient.need] + (cleared.map { [$0] } ?? []))])
    }

    private var serverConditions: [Expression] {
        let ofServer = earlier.filter { $0.client == nil }
        return ofServer.isEmpty ? [] : [!ofServer.need]
    }

    /// A cheap server-side condition that every document needing the phase meets; the write checks the exact one.
    package var mayNeed: Expression { .all([.any(steps.map(\.mayNeed)), SyncLock.isFree] + serverConditions) }
}

extension [CompiledStep] {
    /// The update for documents that are known to need one of the steps.
    package var updateOfNeeding: [BSONDocument] { count == 1 ? [self[0].soleStage] : map(\.writeStage) }

    /// The names of the top-level fields that the steps touch, in the order of their bytes, each once.
    fileprivate var touchedTopLevel: [String] {
        Set(flatMap { $0.step.kind.touched.map { $0.components[0] } }).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
    }
}
