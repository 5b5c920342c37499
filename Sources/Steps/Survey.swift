package import BSON
import Evaluating
package import Jobs
package import Mongo

/// Counts, for each step of a job, the documents that the step would change or skip, and the documents that the step
/// would still change after the job.
///
/// If all steps are server-side, the client counts with ``StepFinder`` if it can evaluate the documents; otherwise the
/// server counts.
///
/// If a step is client-side, ``Evaluation`` counts the documents that need a step. The server counts the other
/// documents, because a step might still skip them.
package struct Survey {
    /// The counts of a survey, for each step and for the job as a whole.
    package struct Result {
        /// For each step, the counts of the documents that the step would change or skip, with the documents as they
        /// are before the job.
        package var before: [StepCount]
        /// For each step, the number of documents that the step would still change after the job.
        ///
        /// The counts of skipped documents are those of ``before``.
        package var after: [StepCount]
        /// The number of documents that need at least one step.
        package var needing: Int
        /// The number of documents that were surveyed.
        package var documents: Int
    }

    package let job: CompiledJob
    let collection: MongoCollection
    private(set) var scope: ReadScope
    /// A filter for the part of the collection that one aggregation counts; `nil` for the whole collection.
    private var part: BSONDocument?
    /// The cluster time whose writes the survey has to see; `nil` for any majority-committed state.
    var start: ClusterTime?
    /// Whether the survey also counts the documents that the steps would change after the job.
    ///
    /// If `false` and all steps are server-side, the survey has a single pass, and ``Result/after`` equals
    /// ``Result/before``.
    private let surveysAfter: Bool

    package init(job: CompiledJob, collection: MongoCollection, surveysAfter: Bool) {
        (self.job, self.collection, self.surveysAfter) = (job, collection, surveysAfter)
        scope = job.scope
    }

    /// The most `_id`s that are collected for each reason to skip documents.
    package static let samples = 5

    /// Counts the documents of the survey's scope.
    ///
    /// A document for which the server cannot compute a step counts as needing the job, but not for any of its steps.
    /// - Throws: ``MongoError`` if there are more than ``mostUncomputed`` of those.
    package func run() throws -> Result { try withoutUncomputed { try runAtOnce() } }

    /// The most documents that a survey leaves out because the server cannot compute a step for them.
    private static let mostUncomputed = 100

    private func withoutUncomputed(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as MongoError where error.isOfOneDocument {
            return try runInSlices()
        }
    }

    /// Counts the documents in slices, and halves a slice that fails, until each document that makes it fail is alone.
    private func runInSlices() throws -> Result {
        var (uncomputed, ids) = (0, [BSONValue]())
        if case .ids(let listed) = scope {
            ids = listed
        } else {
            var cursor = collection.find(
                scope.filter(quick: quick), options: options.appending("projection", ["_id": 1]))
            while let id = try cursor.nextDocument()?["_id"] { ids.append(id) }
        }
        var slices = scope.isWhole ? ids.commandSlices(count: 1_000) : ids.halves
        var total = try result(StepFinder.Found(of: job.steps))
        while let slice = slices.popLast() {
            var survey = self
            survey.scope = .ids(slice)
            do { total = .sum([total, try survey.runAtOnce()]) } catch let error as MongoError
                where error.isOfOneDocument
            {
                guard slice.count == 1 else {
                    slices += slice.halves
                    continue
                }
                total.documents += 1
                total.needing += 1
                uncomputed += 1
                guard uncomputed <= Self.mostUncomputed else { throw error }
            }
        }
        return total
    }

    private func runAtOnce() throws -> Result {
        if let read = try resultByReading() { return try counted(read) }
        var result = try evaluatesAtOnce ? result(countsAtOnce()) : resultInTurn()
        if !job.isServerSide { try addEvaluated(to: &result) }
        return try counted(result)
    }

    /// Counts only the documents with the given `_id`s, one slice after another.
    package func run(over slices: [[BSONValue]]) throws -> Result {
        try .sum(
            slices.map { ids in
                var survey = self
                survey.scope = .ids(ids)
                return try survey.run()
            })
    }

    /// Counts the documents of the survey's scope.
    ///
    /// If the server counts, up to `concurrency` connections each count a part of the collection at a time.
    ///
    /// A single connection is used if ``quick`` matches few documents, because reading parts by the index costs twice
    /// as much as reading the whole collection.
    /// - Parameter isDense: whether ``quick`` matches most of the documents.
    package func run(in concurrency: Int, on pool: ClientPool, isDense: Bool = false) throws -> Result {
        try withoutUncomputed { try runAtOnce(in: concurrency, on: pool, isDense: isDense) }
    }

    private func runAtOnce(in concurrency: Int, on pool: ClientPool, isDense: Bool) throws -> Result {
        if let read = try resultByReading() { return try counted(read) }
        guard case .collection = scope, evaluatesAtOnce, quick == nil || isDense, concurrency > 1 else {
            return try runAtOnce()
        }
        let parts = try CollectionParts(of: collection, for: concurrency)
        guard parts.filters.count > 1 else { return try runAtOnce() }
        let (job, surveysAfter) = (job, surveysAfter)
        return try counted(
            result(
                parts.reduce(StepFinder.Found(of: job.steps), on: pool, and: collection) { part, collection in
                    var survey = Survey(job: job, collection: collection, surveysAfter: surveysAfter)
                    survey.part = part
                    return try survey.countsAtOnce()
                } combining: {
                    $0.adding($1)
                }))
    }

    /// Returns the result, with `documents` corrected if the survey read only some of the documents.
    ///
    /// The survey leaves out documents that no step changes or skips, if it can. `documents` then becomes the number of
    /// all documents in the scope.
    func counted(_ result: Result) throws(MongoError) -> Result {
        guard scope.isWhole, evaluatesAtOnce || quick != nil else { return result }
        var result = result
        result.documents = try scope.count(in: collection)
        return result
    }

    /// Returns counts of 0 if a cheap query shows that no document needs a step, and that no step skips a document.
    ///
    /// Returns `nil` if the query finds a document, if a step is client-side, or if there is no such query.
    package func nothing() throws -> Result? {
        guard let quick, job.isServerSide else { return nil }
        let first: [BSONDocument] = [["$match": .object(quick)], ["$limit": 1], ["$project": ["_id": 1]]]
        var cursor = collection.aggregate(first, options: options)
        guard try cursor.nextDocument() == nil else { return nil }
        return try counted(result(StepFinder.Found(of: job.steps)))
    }

    /// Returns how many documents need the job.
    /// - Parameter ids: the `_id`s of the documents to count among; `nil` for all documents of the scope.
    package func needing(of ids: [BSONValue]? = nil) throws -> Int {
        do { return try needingAtOnce(of: ids) } catch let error as MongoError where error.isOfOneDocument {
            var survey = self
            if let ids { survey.scope = .ids(ids) }
            return try survey.run().needing
        }
    }

    private func needingAtOnce(of ids: [BSONValue]?) throws -> Int {
        let scope = ids.map { ReadScope.ids($0) } ?? self.scope
        guard job.isServerSide else {
            var evaluation = Evaluation(scope, through: job.steps, in: job.context(collection), onlyNeeding: true)
            var count = 0
            while let outcome = try evaluation.next() { count += outcome.isChanged ? 1 : 0 }
            return count
        }
        var cursor = collection.aggregate(
            scope.stages(where: job.whole.needs, quick: job.steps.quickNeed) + [["$count": "n"]],
            options: scope.options("survey"))
        return try cursor.nextDocument()?["n"]?.integer ?? 0
    }

    /// A cheap condition that holds for every document that a step changes or skips; `nil` if there is no such
    /// condition, or if only a list of documents is surveyed.
    ///
    /// The condition is evaluated on documents before the job changes them. If a document does not meet it, no step of
    /// the job changes the document.
    var quick: BSONDocument? {
        guard scope.isWhole else { return nil }
        return job.steps.quickRelevance
    }

    private var passes: SurveyPasses { SurveyPasses(job: job, count: surveysAfter || !job.isServerSide ? 2 : 1) }

    /// The stages that select the documents before the steps are evaluated.
    ///
    /// Without a client-side step, the server counts all selected documents. With a client-side step, the server counts
    /// only the documents that need no step.
    private var stages: [BSONDocument] {
        let matches = [part, quick].compactMap(\.self).map { ["$match": .object($0)] as BSONDocument }
        return matches + scope.stages(where: job.isServerSide ? nil : !job.whole.needs)
    }

    /// Returns the counts by step, with a few `_id`s for each reason to skip documents.
    ///
    /// If `found` has no `_id`s for a reason, a query finds them on the server.
    /// - Parameter after: for each step, the number of documents that it would still change after the job; `nil` if it
    ///   is the same as before the job.
    func result(_ found: StepFinder.Found, after: [Int]? = nil) throws(MongoError) -> Result {
        var before: [StepCount] = []
        for (index, step) in passes.steps.enumerated() {
            var skipped: [StepCount.Skipped] = []
            for (code, reason) in step.reasons.enumerated() {
                let count = found.findings[index][code + 1]
                var ids = found.samples[StepFinder.Finding(step: index, code: code + 1)] ?? []
                if ids.isEmpty, count > 0 { ids = try sampleIDs(step: index, where: reason.when) }
                skipped.append(StepCount.Skipped(reason.reason, count: count, samples: ids))
            }
            skipped += step.step.kind.clientReasons.map { StepCount.Skipped($0) }
            before.append(
                StepCount(step: step.step.description, needing: found.findings[index][0], skipped: skipped))
        }
        var result = Result(before: before, after: before, needing: found.needing, documents: found.documents)
        for (index, needing) in (after ?? []).enumerated() { result.after[index].needing = needing }
        return result
    }

    /// Whether the survey has one pass, and all steps can be evaluated on the document as it is before the job.
    ///
    /// Such an evaluation costs much less than passing the document from step to step.
    private var evaluatesAtOnce: Bool { passes.count == 1 && job.hasIndependentSteps }

    /// Evaluates the steps in the client; `nil` if the client cannot evaluate them, or if the survey has two passes.
    var finder: StepFinder? { passes.count == 1 ? job.finder : nil }

    /// Counts the documents by grouping them by the findings of all steps, which is cheaper than a sum for each
    /// finding.
    private func countsAtOnce() throws(MongoError) -> StepFinder.Found {
        let steps = job.steps.map { $0.knowing(AlteredDocument(knownAt: "$altered")) }
        var findings: [Expression] = steps.map(\.finding)
        findings += steps.filter(\.isAboutElements).map(\.reasonCodes)
        let all = Expression.let(
            ["altered": job.steps.alteredAlthoughNeeded], in: Expression(.array(of: findings.map(\.bson))))
        let group: BSONDocument = ["_id": all.bson, "n": ["$sum": 1]]
        // This filter excludes only documents in which no step finds anything, and costs a third of the `$group` stage.
        let isAnything = StepFinder.isAnything(job.steps)
        let relevant: [BSONDocument] = scope.isWhole ? [["$match": .object(isAnything.filter)]] : []
        var cursor = collection.aggregate(stages + relevant + [["$group": .object(group)]], options: options)
        var counts = StepFinder.Found(of: job.steps)
        while let document = try cursor.nextDocument() {
            guard let number = document["n"]?.integer, let found = document["_id"]?.document?.values else { continue }
            var findings: [StepFinder.Finding] = []
            var next = job.steps.count
            for (index, step) in job.steps.enumerated() {
                var codes: Set<Int> = found[index].integer.map { [$0] } ?? []
                if step.isAboutElements {
                    codes = codes.intersection([1]).union(found[next].document?.values.compactMap(\.integer) ?? [])
                    next += 1
                }
                for code in codes where code > 0 { findings.append(StepFinder.Finding(step: index, code: code - 1)) }
            }
            counts.add(findings, count: number)
        }
        return counts
    }

    /// The most documents that the server evaluates because the client cannot evaluate them; if there are more, the
    /// server counts all documents.
    package static let maximumUnevaluated = 10_000

    /// Returns the counts that the client makes while it reads the documents; `nil` if the server has to count all.
    ///
    /// The server has to count if only a list of documents is surveyed, if there is no ``finder``, if the collection
    /// has a collation, or if the server answers slowly. It also has to count if more than ``maximumUnevaluated``
    /// documents cannot be evaluated by the client.
    private func resultByReading() throws -> Result? {
        guard scope.isWhole, part == nil, let finder, try collection.suitsEvaluationByClient else { return nil }
        var (found, frame, unevaluated) = (finder.nothing, finder.frame(), [BSONValue]())
        var cursor = collection.find(scope.filter(quick: quick), options: options)
        while let document = try cursor.next() {
            let findings: [StepFinder.Finding]
            do throws(NotEvaluated) { findings = try finder.findings(in: document, &frame) } catch {
                guard unevaluated.count < Self.maximumUnevaluated, let id = try document.find("_id") else {
                    return nil
                }
                unevaluated.append(try document.value(id))
                continue
            }
            found.add(findings)
            try found.sample(findings) { () throws(BSONError) in
                try document.find("_id").map { element throws(BSONError) in try document.value(element) }
            }
        }
        return try result(found, and: unevaluated)
    }

    /// Returns the counts of documents that the client has evaluated, and of those with the given `_id`s, which the
    /// server evaluates.
    package func result(_ found: StepFinder.Found, and unevaluated: [BSONValue]) throws -> Result {
        let evaluated = try result(found)
        return unevaluated.isEmpty
            ? evaluated : .sum([evaluated, try run(over: unevaluated.commandSlices(count: 1_000))])
    }

    private func resultInTurn() throws -> Result {
        var cursor = collection.aggregate(
            stages + passes.stages + [["$group": .object(passes.totals)]], options: options)
        let names = try cursor.nextDocument().map { try $0.elements() } ?? []
        let sums = Dictionary(uniqueKeysWithValues: names.map { ($0.name, $0.value.integer ?? 0) })
        var found = StepFinder.Found(of: job.steps, documents: sums["documents"] ?? 0)
        for (step, findings) in found.findings.enumerated() {
            for code in findings.indices { found.findings[step][code] = sums["r0s\(step)c\(code + 1)"] ?? 0 }
        }
        found.needing = passes.hasOneStep ? found.findings[0][0] : sums["any"] ?? 0
        let last = passes.count - 1
        let after = job.steps.enumerated().map { index, step -> Int in
            let needing = sums["r\(last)s\(index)c1"] ?? 0
            guard step.step.kind is CasesStep else { return needing }
            // A case may skip what another case wrote, so that each later run would report it.
            let codes = step.reasons.indices.filter { step.reasons[$0].reason.isTrouble }.map { $0 + 2 }
            let grown = codes.reduce(0) {
                $0 + (sums["r\(last)s\(index)c\($1)"] ?? 0) - (sums["r0s\(index)c\($1)"] ?? 0)
            }
            return needing + max(0, grown)
        }
        return try result(found, after: after)
    }

    private func sampleIDs(step: Int, where condition: Expression) throws(MongoError) -> [BSONValue] {
        let pipeline =
            stages + passes.stages(before: step) + [
                ["$match": .object(condition.filter)], ["$limit": .integer(Self.samples)], ["$project": ["_id": 1]],
            ]
        return try collection.aggregate(pipeline, options: options).documents().compactMap { $0["_id"] }
    }

    private var options: BSONDocument { scope.options("survey", since: start) }

    /// The options of a survey that reads a whole collection.
    package static let options = ReadScope.collection.options("survey")
}

extension IDList {
    /// The listed `_id`s, in slices of at most 1,000 `_id`s that each fit into one command.
    package var slices: [[BSONValue]] { ids.commandSlices(count: 1_000) }
}

extension [BSONValue] {
    /// The first and the second half of the list.
    package var halves: [[BSONValue]] { [Array(prefix(count / 2)), Array(dropFirst(count / 2))] }
}

extension Survey.Result {
    /// Returns the sum of the counts of several sets of documents.
    static func sum(_ results: [Survey.Result]) -> Survey.Result {
        guard let first = results.first else { return Survey.Result(before: [], after: [], needing: 0, documents: 0) }
        return results.dropFirst().reduce(first) { $0.adding($1) }
    }

    private func adding(_ other: Survey.Result) -> Survey.Result {
        Survey.Result(
            before: zip(before, other.before).map { $0.adding($1) },
            after: zip(after, other.after).map { $0.adding($1) },
            needing: needing + other.needing, documents: documents + other.documents)
    }
}

extension Survey {
    /// Adds the counts of the documents that need a step.
    ///
    /// The server evaluates the server-side steps on these documents, and the client evaluates the client-side steps.
    func addEvaluated(to result: inout Result) throws {
        var evaluation = Evaluation(scope, through: job.steps, in: job.context(collection), onlyNeeding: true)
        while let outcome = try evaluation.next() {
            result.documents += 1
            if outcome.isChanged { result.needing += 1 }
            for (step, reason) in outcome.skippedElements {
                result.before[step].add(reason, outcome.before["_id"] ?? .null)
            }
            for (slot, finding) in outcome.findings.enumerated() {
                let step = slot % job.steps.count
                switch finding {
                case .nothing: break
                case .needed where slot < job.steps.count: result.before[step].needing += 1
                case .needed: result.after[step].needing += 1
                case .skipped(let reason):
                    guard slot < job.steps.count else { continue }
                    result.before[step].add(reason, outcome.before["_id"] ?? .null)
                }
            }
        }
        for step in result.before.indices { result.after[step].skipped = result.before[step].skipped }
    }
}
