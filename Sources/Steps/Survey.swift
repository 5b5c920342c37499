package import BSON
import Evaluating
package import Jobs
package import Mongo

/// Counts, in one pass over the collection, what each step finds now and would find after the job.
///
/// The client counts by ``StepFinder`` where every step looks at a document as it is, else the server.
///
/// Where the client runs a step, the server counts the documents that need none, and ``Evaluation`` the others.
package struct Survey {
    /// The counts of all steps.
    package struct Result {
        package var before: [StepCount]
        package var after: [StepCount]
        /// Documents that lack any of the steps.
        package var needing: Int
        /// Documents that were looked at.
        package var documents: Int
    }

    /// Documents by what was found: `r0s1c2` counts those of finding 2 of step 1 in round 0.
    private typealias Counts = [String: Int]

    let job: CompiledJob
    let collection: MongoCollection
    /// The documents that are looked at.
    private var scope: ReadScope
    /// A filter for the part of the collection that one aggregation counts; `nil` for all of it.
    private var part: BSONDocument?
    /// Whether it is also told what the job would leave; else ``Result/after`` is ``Result/before``.
    private let looksAhead: Bool

    /// Looks at the documents of a job.
    package init(job: CompiledJob, collection: MongoCollection, looksAhead: Bool) {
        (self.job, self.collection, self.looksAhead) = (job, collection, looksAhead)
        scope = job.scope
    }

    /// How many `_id`s of a kind are shown.
    package static let samples = 5

    package func run() throws -> Result {
        if let read = try resultByReading() { return try counted(read) }
        var result = try result(looksAtOnce ? countsAtOnce() : countsInTurn())
        if !job.isServerSide { try addEvaluated(to: &result) }
        return try counted(result)
    }

    /// Counts these documents alone.
    package func run(over slices: [[BSONValue]]) throws -> Result {
        try .sum(
            slices.map { ids in
                var survey = self
                survey.scope = .ids(ids)
                return try survey.run()
            })
    }

    /// Counts side by side on so many connections, where each is to look at a part of the collection alone.
    ///
    /// Where what the server can ask first leaves few of them, the ranges of the index, twice the price of a scan, do not pay.
    /// - Parameter isDense: whether it leaves most of them.
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

    /// The result with the number of documents, where not each was looked at.
    private func counted(_ result: Result) throws(MongoError) -> Result {
        guard scope.isWhole, looksAtOnce || quick != nil else { return result }
        var result = result
        result.documents = try scope.count(in: collection)
        return result
    }

    /// What is told where no document is any step's concern; `nil` where one may be, or where the server cannot ask that
    /// first.
    package func nothing() throws -> Result? {
        guard let quick, job.isServerSide else { return nil }
        let first: [BSONDocument] = [["$match": .object(quick)], ["$limit": 1], ["$project": ["_id": 1]]]
        var cursor = collection.aggregate(first, options: options)
        guard try cursor.nextDocument() == nil else { return nil }
        return try counted(result([:]))
    }

    /// How many documents need the job; of these alone, where they are named.
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

    /// What holds of every document that the job is about, where the server can ask that first: a document that no step
    /// is about as it is, none changes, and so none comes to be about it.
    private var quick: BSONDocument? {
        guard scope.isWhole else { return nil }
        return job.steps.quickConcern
    }

    /// Whether the job needs what its only step finds.
    private var hasOneStep: Bool { job.steps.count == 1 }

    private var rounds: Range<Int> { 0..<(looksAhead || !job.isServerSide ? 2 : 1) }

    /// The stages in front: without a client-side step the server counts every document.
    private var stages: [BSONDocument] {
        let matches = [part, quick].compactMap(\.self).map { ["$match": .object($0)] as BSONDocument }
        return matches + scope.stages(where: job.isServerSide ? nil : !job.whole.needs)
    }

    /// The counts as a report has them, with a few `_id`s of each kind.
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

    /// Whether every step finds in a document what it would find after the steps before it, so that all look at the
    /// document as it is: several times cheaper than to carry it from step to step.
    private var looksAtOnce: Bool {
        // The parts of one step build on each other.
        rounds.count == 1 && job.endsByConstruction && job.steps.count == job.job.steps.count
    }

    /// Groups the documents by what all steps find in them, which is cheaper than a sum for each finding.
    private func countsAtOnce() throws(MongoError) -> Counts {
        let steps = job.steps.map { $0.knowing(AlteredDocument(knownAt: "$altered")) }
        var findings: [Expression] = steps.map(\.finding)
        findings += steps.filter(\.isAboutElements).map(\.reasonCodes)
        let all = Expression.let(
            ["altered": job.steps.alteredAlthoughNeeded], in: Expression(.array(of: findings.map(\.bson))))
        let group: BSONDocument = ["_id": all.bson, "n": ["$sum": 1]]
        // In most documents no step finds anything, which is told at a third of the price.
        let isAnything = StepFinder.isAnything(job.steps)
        let found: [BSONDocument] = scope.isWhole ? [["$match": .object(isAnything.filter)]] : []
        var cursor = collection.aggregate(stages + found + [["$group": .object(group)]], options: options)
        var counts: Counts = [:]
        while let document = try cursor.nextDocument() {
            guard let number = document["n"]?.integer, let found = document["_id"]?.document?.values else { continue }
            counts["documents", default: 0] += number
            // A document needs the job where it needs a step: none waits for another's doing.
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

    /// The most documents of which the server is asked what the client could not tell.
    private static let mostUntold = 10_000

    /// What the client finds in the documents as it reads them, at the speed of a check; `nil` where the server has to
    /// count: for it some documents alone are looked at, a collation compares texts, it is far away, or too many documents
    /// hold what the client does not evaluate.
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

    /// The stage that asks once whether the server would give a document back otherwise.
    private var askingOnce: BSONDocument {
        ["$set": .object(BSONDocument([(alteredMark, job.steps.alteredAlthoughNeeded.bson)]))]
    }

    /// Where the documents have the answer to whether the server would give them back otherwise.
    private var alteredMark: String { "\(mark(0)).altered" }

    /// The steps, which read that answer.
    private var known: [CompiledStep] { job.steps.map { $0.knowing(AlteredDocument(knownAt: alteredMark)) } }

    /// What each step finds after the steps before it, beside the document.
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
                // What the last step writes nothing looks at.
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

    /// A field that no document has, for the finding of each step in a round.
    private func mark(_ round: Int) -> String { "__shipshape_\(round)" }

    private var options: BSONDocument { scope.options("survey") }

    package static let options = ReadScope.collection.options("survey")
}

extension IDList {
    /// The list in parts that a command takes each.
    package var slices: [[BSONValue]] { ids.commandSlices(count: 1_000) }
}

extension Survey.Result {
    /// The counts of several sets of documents together.
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
    /// Why a document is left alone, one that is locked too.
    package var reasons: [(reason: Reason, when: Expression)] {
        leftAlone + [(.locked, needs && !SyncLock.isFree)]
    }

    /// Whether elements of one document can need the step while others are left alone, each for its reason.
    fileprivate var isAboutElements: Bool { step.target.leadsIntoElements }

    /// The numbers of all reasons that hold, from 2 on.
    fileprivate var reasonCodes: Expression {
        let codes = reasons.enumerated().map { index, reason in
            Expression.choose(if: reason.when, then: .constant(.integer(index + 2)), else: .constant(0)).bson
        }
        return Expression(.array(of: codes))
    }

    /// Why a document is left alone, in the order of ``reasons``.
    var reasonNames: [Reason] { leftAloneReasons + [.locked] }

    /// The bytes that the step takes in a survey of both rounds: before the job, and after it.
    var surveyByteCount: Int {
        let asked = [finding] + (isAboutElements ? [reasonCodes] : [])
        return 2 * asked.reduce(stage.bytes.count) { $0 + $1.bson.byteCount }
    }

    /// What the step finds in a document, as a number: 0 nothing, 1 that it is needed, from 2 on why it is left alone.
    var finding: Expression {
        var branches: [BSONValue] = [["case": (needs && SyncLock.isFree).bson, "then": 1]]
        for (index, reason) in reasons.enumerated() {
            branches.append(["case": reason.when.bson, "then": .integer(index + 2)])
        }
        return Expression(["$switch": ["branches": .array(of: branches), "default": 0]])
    }
}

extension Survey {
    /// Adds the documents that need a step, as the server and the client together evaluate them.
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
