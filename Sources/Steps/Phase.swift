package import BSON
import Checking
import JobState
package import Jobs
import Mongo
import ServerSchema

/// A part of a job that is written at once: steps that one update runs together, or one step that the client computes.
///
/// A document is through a phase before it is in the next one.
package struct Phase: Sendable {
    /// The steps in their order; a later one sees what an earlier one wrote.
    package private(set) var steps: [CompiledStep]
    /// The steps that might make a document unsyncable that syncs under the active schema: all that are not proven
    /// harmless from the schema alone.
    package private(set) var riskySteps: [CompiledStep]
    /// The others, which leave every document syncing that does.
    package private(set) var harmlessSteps: [CompiledStep]

    /// The steps of each part, by their indexes: one part, unless several phases are joined.
    package let parts: [Range<Int>]

    /// The fields of the document itself that the steps may write or take away, in the order of their bytes.
    package let touched: [String]
    /// Steps beside these whose fields count as touched.
    private let beside: [CompiledStep]
    /// Whether a field of the document itself may go or move.
    package let removesFields: Bool

    /// The steps of the phases before this one.
    private(set) var earlier: [CompiledStep] = []
    /// Of the documents that an earlier step of the client may need, those that the client found it not to, as they were
    /// then; `nil` before it has looked.
    private(set) var cleared: Expression?

    /// - Parameter others: further steps whose fields count as touched.
    package init(_ steps: [CompiledStep], touching others: [CompiledStep] = [], isRisky: (CompiledStep) -> Bool) {
        self.steps = steps
        riskySteps = steps.filter(isRisky)
        harmlessSteps = steps.filter { !isRisky($0) }
        parts = [steps.indices]
        touched = (steps + others).touchedTopLevel
        beside = others
        removesFields = steps.contains { $0.step.kind.removesFields }
    }

    /// The phase with what its client-side step has to know before the first document.
    package func prepared(in context: ClientContext) throws -> Phase {
        guard var step = steps.first, let client = step.transform else { return self }
        do {
            step.client = try client.prepared(in: context)
        } catch let error as RunError {
            throw error.located(at: step.location)
        } catch let error as MongoError where error.isAuthorization {
            throw RunError(
                .lookupUnreadable, "\(step.step) reads a collection that may not be read: grant `find` on it (\(error))"
            ).located(at: step.location)
        }
        let isRisky = !isHarmless
        return Phase([step]) { _ in isRisky }
    }

    /// The phase whose client-side step judges the documents that it makes in another collection by these schemas, as far
    /// as they cover that.
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

    /// The phase with a time in the place of `$now`, in milliseconds since 1970; a client's step has none.
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

    /// The phase with another answer to whether the server would give the document back otherwise.
    func knowing(_ altered: AlteredDocument) -> Phase {
        var phase = self
        phase.steps = steps.map { $0.knowing(altered) }
        phase.riskySteps = riskySteps.map { $0.knowing(altered) }
        phase.harmlessSteps = harmlessSteps.map { $0.knowing(altered) }
        phase.earlier = earlier.map { $0.knowing(altered) }
        return phase
    }

    /// Several phases as one, for looking at what a whole job does.
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

    /// Whether what the phase writes tells what stood there before; see ``StepKind/tellsWhatWas``.
    package var tellsWhatWas: Bool { steps.allSatisfy(\.step.kind.tellsWhatWas) }

    /// Whether no step can do harm; else each chunk is judged before it is written.
    package var isHarmless: Bool { riskySteps.isEmpty }

    /// Whether a document lacks any of the steps, is not locked, and is through the earlier phases.
    package var needs: Expression { .all([steps.need, SyncLock.isFree] + conditions) }
    /// Whether a document lacks any of the steps, and is locked.
    var lockedNeeds: Expression { steps.need && !SyncLock.isFree }

    /// The update that runs all steps of the server.
    package var pipeline: [BSONDocument] { steps.filter { $0.client == nil }.map(\.stage) }

    /// The same update for documents of which ``needs`` is known: it asks less again, which costs as much as the update.
    package var neededPipeline: [BSONDocument] { steps.updateOfNeeding }

    /// Whether the server alone tells what the steps make of a document.
    package var isServerSide: Bool { steps.allSatisfy { $0.client == nil } }
}

/// What an earlier phase passed over stays as it is, or a step would take away what an earlier one still has to read: a
/// document that was locked, that could not be written, or that came or changed behind the reader.
extension Phase {
    /// What the server can ask first of a document that needs the phase; `nil` where there is nothing so simple.
    package var quickNeed: BSONDocument? { steps.quickNeed }

    /// The phases of a job, each with what has to be done before it.
    static func inOrder(_ phases: [Phase]) -> [Phase] {
        phases.indices.map { index in
            var phase = phases[index]
            phase.earlier = phases[..<index].flatMap(\.steps)
            return phase
        }
    }

    /// The client's steps among the earlier ones: whether a document needs them, the server alone does not tell.
    package var earlierOfClient: [CompiledStep] { earlier.filter { $0.client != nil } }

    /// The phase over documents at which the client has looked.
    package func clearing(_ cleared: [Expression]) -> Phase {
        var phase = self
        phase.cleared = .any([.constant(false)] + cleared)
        return phase
    }

    /// Whether a document is through the earlier phases; `nil` where there are none.
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

    /// Whether a document may need the phase, for all that the server can tell at little cost: the write asks the rest.
    package var mayNeed: Expression { .all([.any(steps.map(\.mayNeed)), SyncLock.isFree] + serverConditions) }
}

extension [CompiledStep] {
    /// The update of documents that need one of the steps.
    package var updateOfNeeding: [BSONDocument] { count == 1 ? [self[0].soleStage] : map(\.writeStage) }

    /// The names of the fields of the document itself that the steps touch, in the order of their bytes, each once.
    fileprivate var touchedTopLevel: [String] {
        Set(flatMap { $0.step.kind.touched.map { $0.components[0] } }).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
    }
}
