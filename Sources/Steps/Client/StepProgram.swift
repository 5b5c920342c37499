import BSON
import Jobs
import Mongo

/// The steps of one or more passes over a job, divided into runs.
///
/// Each run is one aggregation, in which the server evaluates steps. Every run but the last is followed by a
/// client-side step, and also finds the documents that need this client-side step.
struct StepProgram {
    /// The stages of one aggregation, and the client-side step that follows them.
    struct Run {
        var stages: [BSONDocument] = []
        /// The client-side step after the stages, with its index among the steps of all passes; `nil` in the last run.
        var client: (step: CompiledStep, transform: any ClientTransform, slot: Int)?
    }

    /// A document during the evaluation, as it was before the first step and as it is after the steps so far.
    struct Document {
        var before: BSONDocument
        var after: BSONDocument
        var isNeeding: Bool
        var findings: [Evaluation.Finding]
        /// The further reasons why steps of the first pass skip elements of the document, with the steps' indexes.
        var skippedElements: [(step: Int, reason: CompiledStep.Reason)] = []
        var created: [ClientCreation] = []
        /// Whether ``finish(_:in:)`` has to evaluate the first run on ``after``, because the document has no usable
        /// result of the first run.
        ///
        /// This is the case if a reply cannot hold both the original and the result, or if the document was not read
        /// from the collection.
        var isLarge = false

        var outcome: Evaluation.Outcome {
            Evaluation.Outcome(
                before: before, after: after, findings: isNeeding ? findings : [], skippedElements: skippedElements,
                created: created)
        }
    }

    private static let mark = "__shipshape"

    /// The size in bytes above which the server does not return a document's original together with the result.
    ///
    /// A reply must fit into 16 MiB.
    private static let large = 8_000_000

    let runs: [Run]
    /// The steps of all passes, one pass after another.
    private let slots: [CompiledStep]
    private let stepCount: Int

    /// Divides the steps into runs.
    /// - Parameter rounds: the number of passes over the steps.
    init(_ steps: [CompiledStep], rounds: Int = 2) {
        let altered = "\(Self.mark).altered"
        slots = (0..<rounds).flatMap { _ in steps.map { $0.knowing(AlteredDocument(knownAt: altered)) } }
        stepCount = steps.count
        var runs = [Run()]
        for (slot, step) in slots.enumerated() {
            if runs[runs.count - 1].stages.isEmpty {
                let isAltered = steps.alteredAlthoughNeeded.bson
                runs[runs.count - 1].stages.append(["$set": .object(BSONDocument([(altered, isAltered)]))])
            }
            var found = [("\(Self.mark).f\(slot)", step.finding.bson)]
            if step.isAboutElements, slot < stepCount { found.append(("\(Self.mark).e\(slot)", step.reasonCodes.bson)) }
            runs[runs.count - 1].stages.append(["$set": .object(BSONDocument(found))])
            if let client = step.transform {
                runs[runs.count - 1].client = (step, client, slot)
                runs.append(Run())
            } else {
                runs[runs.count - 1].stages.append(step.stage)
            }
        }
        self.runs = runs
    }

    /// Returns the first stage of the first run's pipeline, which stores in each document whether the document needs a
    /// step.
    ///
    /// If the first run changes documents, the stage also stores a copy of each document that needs a step, so that the
    /// original is known afterwards. A document of more than ``large`` bytes is not copied, because the document and
    /// its copy might not fit into one reply.
    func start(needs: Expression) -> BSONDocument {
        let changes = runs[0].stages.count > (runs[0].client == nil ? 0 : 2)
        let isLarge: BSONValue = ["$gt": [["$bsonSize": "$$ROOT"], .integer(Self.large)]]
        let kept: BSONValue = ["$cond": [isLarge, true, "$$ROOT"]]
        let before: BSONValue = changes ? ["$cond": ["$$needs", kept, "$$REMOVE"]] : "$$REMOVE"
        return ["$set": [Self.mark: ["$let": ["vars": ["needs": needs.bson], "in": ["n": "$$needs", "b": before]]]]]
    }

    /// Reads one document from the results of the first run's aggregation.
    func read(_ view: borrowing BSONView) throws -> Document {
        let (after, marks) = try Self.split(view)
        var document = Document(
            before: marks["b"]?.document ?? after, after: after, isNeeding: marks["n"] == true, findings: [])
        if document.isNeeding { document.findings = slots.map { _ in .nothing } }
        document.isLarge = marks["b"] == true
        note(marks, in: &document)
        return document
    }

    /// Creates the state of a document before the first step.
    ///
    /// The caller supplies the document, which might not be in the collection.
    ///
    /// No run has been evaluated on the document, so ``finish(_:in:)`` evaluates all runs.
    func unread(_ document: BSONDocument) -> Document {
        Document(
            before: document, after: document, isNeeding: true, findings: slots.map { _ in .nothing }, isLarge: true)
    }

    /// Evaluates the remaining runs on the documents that the first run returned, and returns the results.
    ///
    /// If ``Document/isLarge`` is `true` for a document, the first run is evaluated on it, too.
    func finish(_ documents: [Document], in context: ClientContext) throws -> [Document] {
        var documents = documents
        for (index, run) in runs.enumerated() where !documents.isEmpty {
            let due = documents.indices.filter { index > 0 || documents[$0].isLarge }
            if !due.isEmpty, !run.stages.isEmpty {
                let evaluated = try context.collection.aggregate(
                    over: due.map { documents[$0].after }, run.stages, options: ["comment": "shipshape evaluation"])
                guard evaluated.count == due.count else {
                    preconditionFailure("a pipeline of $set and $unset keeps every document")
                }
                for (index, document) in zip(due, evaluated) {
                    let (after, marks) = try Self.split(document.view)
                    documents[index].after = after
                    note(marks, in: &documents[index])
                }
            }
            guard let (step, transform, slot) = run.client else { continue }
            let needing = documents.indices.filter { documents[$0].findings[slot] == .needed }
            let outcomes = try transform.outcomes(of: needing.map { documents[$0].after }, in: context)
            for (index, outcome) in zip(needing, outcomes) {
                try documents[index].apply(outcome, of: step, in: slot, isFirstRound: slot < stepCount)
            }
        }
        return documents
    }

    private func note(_ marks: BSONDocument, in document: inout Document) {
        guard document.isNeeding else { return }
        for (slot, step) in slots.enumerated() {
            guard let code = marks["f\(slot)"]?.integer else { continue }
            document.findings[slot] =
                code == 0 ? .nothing : code == 1 ? .needed : .skipped(step.reasonNames[code - 2])
            for other in marks["e\(slot)"]?.document?.values.compactMap(\.integer) ?? []
            where other > 1 && other != code {
                document.skippedElements.append((slot, step.reasonNames[other - 2]))
            }
        }
    }

    private static func split(_ view: borrowing BSONView) throws -> (BSONDocument, marks: BSONDocument) {
        var builder = BSONBuilder()
        var marks = BSONDocument()
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if view.nameBytes(element).isEqual(to: mark) {
                marks = BSONDocument(copying: try view.document(element))
            } else {
                builder.append(element, of: view)
            }
        }
        return (builder.finish(), marks)
    }
}

extension StepProgram.Document {
    fileprivate mutating func apply(
        _ outcome: ClientOutcome, of step: CompiledStep, in slot: Int, isFirstRound: Bool
    ) throws {
        switch outcome {
        case .change(let changed, let creating):
            after = changed
            if let marker = step.step.kind.marker { after = try after.setting(true, at: marker.components) }
            if isFirstRound { created += creating }
        case .leave(let reason): findings[slot] = .skipped(reason)
        case .nothing: findings[slot] = .nothing
        }
    }
}

extension BSONDocument {
    /// Returns the document with the field at `path` set to `value`.
    ///
    /// Each name of the path except the last one is the name of an embedded object. If the innermost object lacks the
    /// field, the field is added at the end of the object, as the server's `$mergeObjects` does. If an object on the
    /// path is missing, the document stays unchanged.
    func setting(_ value: BSONValue, at path: some Collection<String>) throws(BSONError) -> BSONDocument {
        guard let name = path.first, path.count > 1 else { return try replacing(path.first ?? "", with: value) }
        guard case .object(let inner)? = self[name] else { return self }
        return try replacing(name, with: .object(try inner.setting(value, at: path.dropFirst())))
    }
}
