package import BSON
import Evaluating
package import Jobs
package import Mongo

/// Counts, in one pass over the collection, what each step finds now and would find after the job.
///
/// If every step can be evaluated on the document as it is, the client counts with ``StepFinder``; otherwise the server
/// counts. With client-side steps, the server counts the documents that need no step, and ``Evaluation`` the others.
package struct Survey {
    /// The counts of all steps.
    package struct Result {
        /// The counts of each step before the job.
        package var before: [StepCount]
        /// The counts of each step after the job.
        package var after: [StepCount]
        /// The number of documents that need any of the steps.
        package var needing: Int
        /// The number of documents that were surveyed.
        package var documents: Int
    }

    /// The number of documents by finding: `r0s1c2` counts those with finding 2 of step 1 in pass 0 over the steps.
    private typealias Counts = [String: Int]

    let job: CompiledJob
    let collection: MongoCollection
    /// The documents that are surveyed.
    private var scope: ReadScope
    /// A filter for the part of the collection that one aggregation counts; `nil` for the whole collection.
    private var part: BSONDocument?
    /// Whether to evaluate also what the job would leave; otherwise ``Result/after`` equals ``Result/before``.
    private let looksAhead: Bool

    /// Creates a survey of a job's documents.
    package init(job: CompiledJob, collection: MongoCollection, looksAhead: Bool) {
        (self.job, self.collection, self.looksAhead) = (job, collection, looksAhead)
        scope = job.scope
    }

    /// The most `_id`s that are shown for each finding.
    package static let samples = 5

    /// Counts the documents of the survey's scope.
    package func run() throws -> Result {
        if let read = try resultByReading() { return try counted(read) }
        var result = try result(looksAtOnce ? countsAtOnce() : countsInTurn())
        if !job.isServerSide { try addEvaluated(to: &result) }
        return try counted(result)
    }

    /// Counts only these documents.
    package func run(over slices: [[BSONValue]]) throws -> Result {
        try .sum(
            slices.map { ids in
                var survey = self
                survey.scope = .ids(ids)
                return try survey.run()
            })
    }

    /// Counts on several connections at once, each of which reads parts of the collection.
    ///
    /// If ``quick`` leaves few documents, the survey uses one connection, because ranges of the index cost twice as
    /// much as a scan.
    /// - Parameter isDense: whether ``quick`` leaves most of the documents.
    package func run(in concurrency: Int, on pool: ClientPool, isDense: Bool = false) throws -> Result {
        if let read = try resultByReading() { return try counted(read) }
        guard case .collection = scope, looksAtOnce, quick == nil || isDense, concurrency > 1 else { return try run() }
        let parts = try CollectionParts(of: collection, for: concurrency)
        guard parts.filters.count > 1 else { return try run() }
        let (job, looksAhead) = (job, looksAhead)
        return try counted(
            result(
                parts.reduce([:] as Counts, on: pool, and: collection) { part, collection in
                    var survey = Survey(job: job, collection: collection, looksAhead: looksAhead)
                    survey.part = part
                    return try survey.countsAtOnce()
                } combining: {
                    $0.merging($1, uniquingKeysWith: +)
                }))
    }

    /// Returns the result with the number of all documents, if not every document was read.
    private func counted(_ result: Result) throws(MongoError) -> Result {
        guard scope.isWhole, looksAtOnce || quick != nil else { return result }
        var result = result
        result.documents = try scope.count(in: collection)
        return result
    }

    /// Returns the counts if a cheap query shows that no step needs or skips any document; `nil` if a step may, or if
    /// there is no such query.
    package func nothing() throws -> Result? {
        guard let quick, job.isServerSide else { return nil }
        let first: [BSONDocument] = [["$match": .object(quick)], ["$limit": 1], ["$project": ["_id": 1]]]
        var cursor = collection.aggregate(first, options: options)
        guard try cursor.nextDocument() == nil else { return nil }
        return try counted(result([:]))
    }

    /// Returns how many documents need the job, or how many of `ids`, if given.
    package func needing(of ids: [BSONValue]? = nil) throws -> Int {
        let scope = ids.map { ReadScope.ids($0) } ?? self.scope
        guard job.isServerSide else {
            var evaluation = Evaluation(scope, through: job.steps, in: job.context(collection), onlyNeeding: true)
            var count = 0
            while let outcome = try evaluation.next() { count += outcome.isChanged ? 1 : 0 }
            return count
        }
        var cursor = collection.aggregate(
            scope.stages(where: job.whole.needs, quick: job.whole.quickNeed) + [["$count": "n"]],
            options: scope.options("survey"))
        return try cursor.nextDocument()?["n"]?.integer ?? 0
    }

    /// A cheap condition that every document meets that a step needs or skips; `nil` if there is none.
    ///
    /// It holds for the whole job, because a document that no step applies to as it is stays unchanged.
    private var quick: BSONDocument? {
        guard scope.isWhole else { return nil }
        return job.steps.quickConcern
    }

    /// Whether the job has a single step, whose need is that of the job.
    private var hasOneStep: Bool { job.steps.count == 1 }

    private var rounds: Range<Int> { 0..<(looksAhead || !job.isServerSide ? 2 : 1) }

    /// The stages before the findings; without a client-side step the server counts every document.
    private var stages: [BSONDocument] {
        let matches = [part, quick].compactMap(\.self).map { ["$match": .object($0)] as BSONDocument }
        return matches + scope.stages(where: job.isServerSide ? nil : !job.whole.needs)
    }

    /// Returns the counts in the form of a report, with a few `_id`s for each finding.
    private func result(_ counts: Counts) throws(MongoError) -> Result {
        func count(_ name: String) -> Int { counts[name] ?? 0 }
        var before: [StepCount] = []
        var after: [StepCount] = []
        for (index, step) in known.enumerated() {
            var leftAlone: [StepCount.LeftAlone] = []
            for (code, reason) in step.reasons.enumerated() {
                let found = count("r0s\(index)c\(code + 2)")
                leftAlone.append(
                    StepCount.LeftAlone(
                        reason: reason.reason.rawValue, isTrouble: reason.reason.isTrouble, count: found,
                        samples: found > 0 ? try sampleIDs(step: index, where: reason.when) : []))
            }
            for reason in step.client?.reasons ?? [] {
                leftAlone.append(
                    StepCount.LeftAlone(
                        reason: reason.rawValue, isTrouble: reason.isTrouble, count: 0, samples: []))
            }
            before.append(
                StepCount(
                    step: step.step.description, needing: count("r0s\(index)c1"), leftAlone: leftAlone))
            after.append(
                StepCount(
                    step: step.step.description, needing: count("r\(rounds.upperBound - 1)s\(index)c1"),
                    leftAlone: leftAlone))
        }
        return Result(
            before: before, after: after, needing: count(hasOneStep ? "r0s0c1" : "any"), documents: count("documents"))
    }

    /// Whether every step finds in a document as it is what it would find after the steps before it; evaluating all
    /// steps on the document as it is is several times cheaper than carrying it from step to step.
    private var looksAtOnce: Bool {
        // The parts of one step build on each other.
        rounds.count == 1 && job.endsByConstruction && job.steps.count == job.job.steps.count
    }

    /// Groups the documents by the findings of all steps, which is cheaper than a sum for each finding.
    private func countsAtOnce() throws(MongoError) -> Counts {
        let steps = job.steps.map { $0.knowing(AlteredDocument(knownAt: "$altered")) }
        var findings: [Expression] = steps.map(\.finding)
        findings += steps.filter(\.isAboutElements).map(\.reasonCodes)
        let all = Expression.let(
            ["altered": job.steps.alteredAlthoughNeeded], in: Expression(.array(of: findings.map(\.bson))))
        let group: BSONDocument = ["_id": all.bson, "n": ["$sum": 1]]
        // In most documents no step finds anything, and finding that out costs a third.
        let isAnything = StepFinder.isAnything(job.steps)
        let found: [BSONDocument] = scope.isWhole ? [["$match": .object(isAnything.filter)]] : []
        var cursor = collection.aggregate(stages + found + [["$group": .object(group)]], options: options)
        var counts: Counts = [:]
        while let document = try cursor.nextDocument() {
            guard let number = document["n"]?.integer, let found = document["_id"]?.document?.values else { continue }
            counts["documents", default: 0] += number
            // A document needs the job if it needs a step, because no step waits for what another one writes.
            if found.prefix(job.steps.count).contains(where: { $0.integer == 1 }) {
                counts["any", default: 0] += number
            }
            var next = job.steps.count
            for (index, step) in job.steps.enumerated() {
                var codes: Set<Int> = found[index].integer.map { [$0] } ?? []
                if step.isAboutElements {
                    codes = codes.intersection([1]).union(found[next].document?.values.compactMap(\.integer) ?? [])
                    next += 1
                }
                for code in codes where code > 0 { counts["r0s\(index)c\(code)", default: 0] += number }
            }
        }
        return counts
    }

    /// The most documents that the server is asked about because the client could not evaluate them.
    private static let mostUntold = 10_000

    /// Returns the counts that the client finds while it reads the documents, at the speed of a check.
    ///
    /// `nil` if the server has to count: only some documents are surveyed, a collation compares texts, the server is
    /// far away, or too many documents hold what the client does not evaluate.
    private func resultByReading() throws -> Result? {
        guard scope.isWhole, part == nil, looksAtOnce, try collection.isNear, try !collection.hasCollation else {
            return nil
        }
        let finder = StepFinder(job.steps)
        var (found, untold) = (finder.nothing, [BSONValue]())
        var cursor = collection.find(scope.filter(quick: quick), options: options)
        while let document = try cursor.next() {
            do throws(NotEvaluated) { try finder.add(document, to: &found) } catch {
                guard untold.count < Self.mostUntold, let id = try document.find("_id") else { return nil }
                untold.append(try document.value(id))
            }
        }
        var counts: Counts = ["documents": found.documents, "any": found.needing]
        for (step, findings) in found.findings.enumerated() {
            for (code, count) in findings.enumerated() { counts["r0s\(step)c\(code + 1)"] = count }
        }
        let told = try result(counts)
        return untold.isEmpty ? told : .sum([told, try run(over: untold.commandSlices(count: 1_000))])
    }

    private func countsInTurn() throws -> Counts {
        var cursor = collection.aggregate(
            stages + findingsInTurn + [["$group": .object(totals)]], options: options)
        let sums = try cursor.nextDocument().map { try $0.elements() } ?? []
        return Dictionary(uniqueKeysWithValues: sums.map { ($0.name, $0.value.integer ?? 0) })
    }

    /// The stage that evaluates once whether the server would alter a document.
    private var askingOnce: BSONDocument {
        ["$set": .object(BSONDocument([(alteredMark, job.steps.alteredAlthoughNeeded.bson)]))]
    }

    /// The field that holds whether the server would alter the document.
    private var alteredMark: String { "\(mark(0)).altered" }

    /// The steps, which read ``alteredMark`` instead of evaluating it.
    private var known: [CompiledStep] { job.steps.map { $0.knowing(AlteredDocument(knownAt: alteredMark)) } }

    /// The stages that store what each step finds after the steps before it, in addition to the document's fields.
    private var findingsInTurn: [BSONDocument] {
        let need = job.whole.knowing(AlteredDocument(knownAt: alteredMark)).needs
        var pipeline: [BSONDocument] = [askingOnce]
        if !hasOneStep { pipeline.append(["$set": .object(BSONDocument([("\(mark(0)).any", need.bson)]))]) }
        for round in rounds {
            for (index, step) in known.enumerated() {
                pipeline.append(["$set": ["\(mark(round)).s\(index)": step.finding.bson]])
                if step.isAboutElements {
                    pipeline.append(["$set": ["\(mark(round)).e\(index)": step.reasonCodes.bson]])
                }
                // No step looks at what the last one writes.
                let isLast = round == rounds.last && index == job.steps.count - 1
                if step.client == nil, !isLast { pipeline.append(step.stage) }
            }
        }
        return pipeline
    }

    private var totals: BSONDocument {
        var builder = BSONBuilder()
        builder.append("_id", nil)
        builder.append("documents", ["$sum": 1])
        builder.append("any", ["$sum": ["$cond": [.string("$\(mark(0)).any"), 1, 0]]])
        for round in rounds {
            for (index, step) in job.steps.enumerated() {
                for code in 1..<step.reasonNames.count + 2 {
                    let isCode: BSONValue =
                        code > 1 && step.isAboutElements
                        ? ["$in": [.integer(code), .string("$\(mark(round)).e\(index)")]]
                        : ["$eq": [.string("$\(mark(round)).s\(index)"), .integer(code)]]
                    builder.append("r\(round)s\(index)c\(code)", ["$sum": ["$cond": [isCode, 1, 0]]])
                }
            }
        }
        return builder.finish()
    }

    private func sampleIDs(step: Int, where condition: Expression) throws(MongoError) -> [BSONValue] {
        let pipeline =
            stages + [askingOnce] + known[..<step].filter { $0.client == nil }.map(\.stage) + [
                ["$match": .object(condition.filter)], ["$limit": .integer(Self.samples)], ["$project": ["_id": 1]],
            ]
        return try collection.aggregate(pipeline, options: options).documents().compactMap { $0["_id"] }
    }

    /// A field that no document has, for the findings of each step in one pass over the steps.
    private func mark(_ round: Int) -> String { "__shipshape_\(round)" }

    private var options: BSONDocument { scope.options("survey") }

    /// The options of a survey that reads a whole collection.
    package static let options = ReadScope.collection.options("survey")
}

extension IDList {
    /// The list in slices that fit into one command each.
    package var slices: [[BSONValue]] { ids.commandSlices(count: 1_000) }
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

extension StepCount {
    fileprivate func adding(_ other: Self) -> Self {
        var sum = self
        sum.needing += other.needing
        for left in other.leftAlone {
            if let index = sum.leftAlone.firstIndex(where: { $0.reason == left.reason }) {
                sum.leftAlone[index].count += left.count
                let room = max(0, Survey.samples - sum.leftAlone[index].samples.count)
                sum.leftAlone[index].samples += left.samples.prefix(room)
            } else {
                sum.leftAlone.append(left)
            }
        }
        return sum
    }
}

extension CompiledStep {
    /// The reasons why a document is skipped, including that it is locked.
    package var reasons: [(reason: Reason, when: Expression)] {
        leftAlone + [(.locked, needs && !SyncLock.isFree)]
    }

    /// Whether some elements of a document can need the step while others are skipped, each for its own reason.
    fileprivate var isAboutElements: Bool { step.target.leadsIntoElements }

    /// The numbers of all reasons that hold, from 2 on.
    fileprivate var reasonCodes: Expression {
        let codes = reasons.enumerated().map { index, reason in
            Expression.choose(if: reason.when, then: .constant(.integer(index + 2)), else: .constant(0)).bson
        }
        return Expression(.array(of: codes))
    }

    /// The reasons why a document is skipped, in the order of ``reasons``.
    var reasonNames: [Reason] { leftAloneReasons + [.locked] }

    /// The bytes that the step takes in a survey of both passes: before the job, and after it.
    var surveyByteCount: Int {
        let asked = [finding] + (isAboutElements ? [reasonCodes] : [])
        return 2 * asked.reduce(stage.bytes.count) { $0 + $1.bson.byteCount }
    }

    /// The step's finding in a document as a number: 0 for nothing, 1 if it is needed, from 2 on why it is skipped.
    var finding: Expression {
        var branches: [BSONValue] = [["case": (needs && SyncLock.isFree).bson, "then": 1]]
        for (index, reason) in reasons.enumerated() {
            branches.append(["case": reason.when.bson, "then": .integer(index + 2)])
        }
        return Expression(["$switch": ["branches": .array(of: branches), "default": 0]])
    }
}

extension Survey {
    /// Adds the documents that need a step, as the server and the client evaluate them together.
    func addEvaluated(to result: inout Result) throws {
        var evaluation = Evaluation(scope, through: job.steps, in: job.context(collection), onlyNeeding: true)
        while let outcome = try evaluation.next() {
            result.documents += 1
            if outcome.isChanged { result.needing += 1 }
            for (slot, finding) in outcome.findings.enumerated() {
                let step = slot % job.steps.count
                switch finding {
                case .nothing: break
                case .needed where slot < job.steps.count: result.before[step].needing += 1
                case .needed: result.after[step].needing += 1
                case .leftAlone(let reason):
                    guard slot < job.steps.count else { continue }
                    result.before[step].add(reason, outcome.before["_id"] ?? .null)
                }
            }
        }
        for step in result.before.indices { result.after[step].leftAlone = result.before[step].leftAlone }
    }
}

extension StepCount {
    fileprivate mutating func add(_ reason: CompiledStep.Reason, _ id: BSONValue) {
        let index =
            leftAlone.firstIndex { $0.reason == reason.rawValue }
            ?? {
                leftAlone.append(
                    StepCount.LeftAlone(
                        reason: reason.rawValue, isTrouble: reason.isTrouble, count: 0, samples: []))
                return leftAlone.count - 1
            }()
        leftAlone[index].count += 1
        if leftAlone[index].samples.count < Survey.samples { leftAlone[index].samples.append(id) }
    }
}
