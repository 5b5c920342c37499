import BSON
import Foundation
import Mongo
import Proving
import TestSupport

/// One random job that is killed, resumed and then undone, while four users write.
///
/// Then each change event is judged by its images: the document before and after the change.
struct UndoEventsCase {
    /// The result of judging the events of a case.
    struct Result: Sendable {
        var events = 0
        /// The number of changes that runs made.
        var written = 0
        /// The number of changes that undo made.
        var restored = 0
        /// The number of changes by undo to fields that users had changed and then set back to the job's value.
        ///
        /// Undo cannot notice such changes of users.
        var chances = 0
        /// The number of documents that undo listed as not restored.
        var named = 0
        /// The violations: changes of users that a run or undo removed, and changes of the job that undo neither
        /// removed nor listed.
        var violations: [String] = []
    }

    /// The field in which each write of a user stores a new number.
    ///
    /// The job never writes this field.
    static let mark = "w"
    static let collection = "c"

    let seed: UInt64
    let test: BackfillCase
    private var random: Randomness
    private var documents: PropertyDocuments
    private let steps: [ModelStep]
    private let targets: Set<String>
    private let start: BSONValue
    private var trail: [String] = []
    /// The output and the errors of the last undo.
    private var reported = ""

    init(seed: UInt64, in test: BackfillCase, documents count: Int) async throws {
        var random = Randomness(seed: seed)
        documents = PropertyDocuments(random: Randomness(seed: random.next()), ids: .numbers)
        documents.repeatsNames = false
        documents.spread = PropertySettings.spread ?? random.pick([600, 600, 60])
        let job = ModelJob.random(using: &random)
        var steps = job.steps
        if random.percent(40) {
            let step = try Self.clientStep(random.below(3), in: test)
            let isFree = !job.steps.contains { step.overlaps($0) }
            if isFree { steps.append(step) }
        }
        let reply = try await test.database.run([
            "create": .string(Self.collection), "changeStreamPreAndPostImages": ["enabled": true],
        ])
        start = try reply["operationTime"] ?? { throw PropertyViolation(kind: .ending, description: "no time") }()
        var first: [BSONValue] = []
        for _ in 0..<count { first.append(.object(documents.document())) }
        do {
            try await test.database.run([
                "insert": .string(Self.collection), "documents": .array(of: first), "ordered": false,
            ])
        } catch let error as MongoError where !error.isTransient {}  // documents may have the same `_id`
        try test.job(on: Self.collection, steps: steps.map(\.yaml), limits: job.limits)
        targets = Set(
            steps.flatMap { [$0.target] + [$0.source].compactMap(\.self) + $0.others }.map { $0.components[0] })
        (self.seed, self.test, self.random, self.steps) = (seed, test, random, steps)
    }

    private static func clientStep(_ kind: Int, in test: BackfillCase) throws -> ModelStep {
        let (yaml, target) =
            [
                ("default: {field: key, generate: uuid}", "key"), ("convert: {field: d, to: uuid}", "d"),
                ("extract: {field: e, to: \(test.database.name).kids, generate: objectId}", "e"),
            ][kind]
        return ModelStep(yaml: yaml, target: try FieldPath(target), source: nil, find: nil)
    }

    // MARK: Running the job while users write

    mutating func run() async throws -> Result {
        let writers = UndoEventsWriters(test.database, targets: targets.sorted() + ["a", "e", "l", "free"])
        for _ in 0..<1 + random.below(3) {
            let fault = "any:\(random.pick([1 + random.below(20), 1 + random.below(150)])):kill"
            trail.append("killed at \(fault)")
            _ = try await alongside(writers, times: 60) { case_, during in
                try await case_.program(["backfill", case_.test.path()], ["SHIPSHAPE_LEASE_TTL=1s"], fault, during)
            }
        }
        let last = try await alongside(writers, times: 60) { case_, during in
            try await case_.program(["backfill", case_.test.path()], ["SHIPSHAPE_LEASE_TTL=20s"], nil, during)
        }
        // The run may skip documents (exit code 1), or stop because the server refused too many writes (exit code 75).
        guard let code = last.exitCode, [0, 1, 75].contains(code) else {
            throw violation("the run ended with \(last.status): \(last.errors)")
        }
        try await test.waitForLeaseEnd()
        try await test.mongod.waitForNoCommand(of: test.appName)
        try await writers.mark("undo")
        if random.percent(40) {
            let fault = "any:\(1 + random.below(40)):kill"
            trail.append("undo killed at \(fault)")
            _ = try await alongside(writers, times: 30) { case_, during in
                try await case_.program(["undo", "job"], ["SHIPSHAPE_LEASE_TTL=1s"], fault, during)
            }
        }
        let undo = try await alongside(writers, times: 60) { case_, during in
            try await case_.program(["undo", "job"], ["SHIPSHAPE_LEASE_TTL=20s"], nil, during)
        }
        guard let code = undo.exitCode, code < 2 else {
            throw violation("the undo ended with \(undo.status): \(undo.errors)")
        }
        reported = undo.output + undo.errors
        try await writers.mark("end")
        return try await judge()
    }

    private func alongside(
        _ writers: UndoEventsWriters, times: Int,
        _ body: (UndoEventsCase, (LiveProgram) async throws -> Void) async throws -> ProgramRun
    ) async throws -> ProgramRun {
        var random = random
        let seeds = (0..<4).map { _ in random.next() ^ UInt64.random(in: 0 ... .max) }
        let documents = documents
        return try await body(self) { _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, seed) in seeds.enumerated() {
                    group.addTask { try await writers.write(number, times, seed, documents) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func program(
        _ command: [String], _ lease: [String], _ fault: String?, _ during: (LiveProgram) async throws -> Void
    ) async throws -> ProgramRun {
        let flags = [
            "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "--yes", "SHIPSHAPE_LEDGER=none",
            "SHIPSHAPE_LEASE_WAIT=3m",
        ]
        return try await Program.run(command + flags + lease, fault: fault, during: during)
    }

    private func violation(_ text: String) -> PropertyViolation {
        PropertyViolation(
            kind: .undo,
            description: "\(text)\n  steps: \(steps.map(\.yaml))\n  after: \(trail.joined(separator: "; "))")
    }

    // MARK: Judging the change events

    private func judge() async throws -> Result {
        let start = start
        let namespace = test.database.namespace(Self.collection)
        let targets = targets
        var judge = try await test.database.pool.run { client in
            let stage: BSONValue = [
                "fullDocument": "whenAvailable", "fullDocumentBeforeChange": "whenAvailable",
                "startAtOperationTime": start,
            ]
            var cursor = client.collection(namespace).aggregate([["$changeStream": stage]])
            var judge = UndoEventsJudge(targets: targets)
            while let event = try cursor.nextDocument() { if try judge.take(event) { break } }
            return judge
        }
        let named = try await test.state.documents("leftalone").compactMap { $0["_id"]?.document?["id"] }
        judge.end(
            naming: Set(named.map { BSONDocument([("", $0)]) }),
            try await test.database.documents(Self.collection))
        var result = judge.result
        for found in judge.found.prefix(3) {
            let history = try await UndoEventsHistory(of: found.id, in: test, since: start, reported: reported).text()
            result.violations.append("\(violation(found.text).description)\n\(history)")
        }
        return result
    }
}

/// Users who write at random, mostly to fields that the job reads or writes.
actor UndoEventsWriters {
    private let database: TestDatabase
    private let targets: [String]
    private var number = 0

    init(_ database: TestDatabase, targets: [String]) { (self.database, self.targets) = (database, targets) }

    private func next() -> BSONValue {
        number += 1
        return .integer(number)
    }

    func mark(_ name: String) async throws {
        try await database.run(["insert": "c", "documents": [["_id": .string(name), "w": next()]]])
        if name != "end" {
            try await database.run(["delete": "c", "deletes": [["q": ["_id": .string(name)], "limit": 1]]])
        }
    }

    nonisolated func write(_ writer: Int, _ times: Int, _ seed: UInt64, _ some: PropertyDocuments) async throws {
        var random = Randomness(seed: seed)
        var documents = some
        documents.random = Randomness(seed: random.next())
        for _ in 0..<times {
            try await Task.sleep(for: .milliseconds(random.below(6)))
            let id = BSONValue.integer(random.below(some.spread) - 100)
            let mark = await next()
            let command: BSONDocument
            switch random.below(10) {
            case 0: command = ["delete": "c", "deletes": [["q": ["_id": id], "limit": 1]]]
            case 1, 2:
                // If there was a document with this `_id`, the new document replaces it.
                _ = try? await database.run(["delete": "c", "deletes": [["q": ["_id": id], "limit": 1]]])
                let body = documents.fields(after: [("_id", id), ("w", mark)])
                command = ["insert": "c", "documents": [.object(body)]]
            case 3:
                let body = documents.fields(after: [("_id", id), ("w", mark)])
                command = ["update": "c", "updates": [["q": ["_id": id], "u": .object(body)]]]
            case 4, 5, 6:
                let change: BSONValue = ["$unset": [random.pick(targets): ""], "$set": ["w": mark]]
                command = ["update": "c", "updates": [["q": ["_id": id], "u": change]]]
            default:
                let set = BSONDocument([(random.pick(targets), documents.value()), ("w", mark)])
                command = ["update": "c", "updates": [["q": ["_id": id], "u": ["$set": .object(set)]]]]
            }
            do { try await database.run(command) } catch let error as MongoError where !error.isTransient {}
        }
    }
}

/// A judge of the change events, which finds the last writer of each field from the events in their order.
struct UndoEventsJudge: Sendable {
    let targets: Set<String>
    var result = UndoEventsCase.Result()
    /// The violations that were found so far, each with the `_id` of its document.
    private(set) var found: [(text: String, id: BSONValue)] = []
    /// The values that the job replaced in each field, oldest first, by document and field.
    ///
    /// Undo may restore these values.
    ///
    /// A value is `nil` if the field was missing. After a user has written the field, its values are removed from the
    /// list.
    private var open: [BSONDocument: [String: [BSONDocument?]]] = [:]
    /// The value that the job last wrote into each field, and the values that it replaced there, by document and field.
    ///
    /// These values stay after a user has written the field, until the document is deleted or replaced by a user.
    private var made: [BSONDocument: [String: (left: BSONDocument?, found: [BSONDocument?])]] = [:]
    /// Each document after its last event, by `_id`.
    private var last: [BSONDocument: BSONDocument] = [:]
    private var isUndoing = false

    init(targets: Set<String>) { self.targets = targets }

    /// Judges the next event, and returns whether it was the last event of the case.
    mutating func take(_ event: BSONDocument) throws -> Bool {
        guard let key = event["documentKey"]?.document, let id = key["_id"], let kind = event["operationType"]?.text
        else {
            return false
        }
        if id == "end" { return true }
        if id == "undo" { isUndoing = true }
        result.events += 1
        let document = BSONDocument([("", id)])
        let before = event["fullDocumentBeforeChange"]?.document?.withoutStaleFields
        let after = event["fullDocument"]?.document?.withoutStaleFields
        last[document] = kind == "delete" ? nil : after
        guard kind == "update" || kind == "replace", let before, let after else {
            guard kind == "insert" || kind == "delete" else { throw UndoEventsError.noImages }
            (open[document], made[document]) = (nil, nil)
            return false
        }
        let isUser =
            before[UndoEventsCase.mark].map { BSONDocument([("", $0)]) }
            != after[UndoEventsCase.mark].map { BSONDocument([("", $0)]) }
        let names = Set(try before.elements().map(\.name) + after.elements().map(\.name))
        for name in names {
            let (was, willBe) = (Self.field(name, of: before), Self.field(name, of: after))
            guard was != willBe else { continue }
            if isUser {
                open[document]?[name] = nil
            } else if !targets.contains(name) {
                note("the program changed \(name), which is not the job's", before, after)
            } else if isUndoing {
                let stack = open[document]?[name] ?? []
                guard let index = stack.lastIndex(of: willBe) else {
                    if let made = made[document]?[name], made.left == was, made.found.contains(willBe) {
                        result.chances += 1
                        continue
                    }
                    note("undo changed \(name), which the job had not left so", before, after)
                    continue
                }
                open[document]?[name] = index == 0 ? nil : Array(stack[..<index])
            } else {
                open[document, default: [:]][name, default: []].append(was)
                made[document, default: [:]][name, default: (nil, [])].found.append(was)
                made[document]?[name]?.left = willBe
            }
        }
        if kind == "replace", isUser { made[document] = nil }
        if !isUser { if isUndoing { result.restored += 1 } else { result.written += 1 } }
        return false
    }

    /// Checks that undo listed each document that still has a change of the job, and that each document equals its
    /// state after its last event.
    ///
    /// - Parameters:
    ///   - named: the `_id`s of the documents that undo listed.
    ///   - documents: the documents of the collection at the end.
    mutating func end(naming named: Set<BSONDocument>, _ documents: [BSONDocument]) {
        result.named = named.count
        for document in documents where document["_id"] != "end" {
            let seen = last[BSONDocument([("", document["_id"] ?? .null)])]
            if let seen, seen != document { note("the events do not lead to the document", seen, document) }
        }
        for (document, fields) in open where !named.contains(document) {
            for (name, stack) in fields where !stack.isEmpty {
                found.append(
                    (
                        "undo left \(name) of \(document.json) as the job made it, and names it nowhere",
                        document[""] ?? .null
                    ))
            }
        }
    }

    private mutating func note(_ what: String, _ before: BSONDocument, _ after: BSONDocument) {
        found.append(("\(what): \(before.json) became \(after.json)", after["_id"] ?? .null))
    }

    private static func field(_ name: String, of document: BSONDocument) -> BSONDocument? {
        document[name].map { BSONDocument([("", $0)]) }
    }
}

enum UndoEventsError: Error {
    /// A change event lacks the document before or after the change.
    case noImages
}

extension BSONDocument {
    /// The document of a change event without outdated fields.
    ///
    /// If an update moves a field, the event of mongod 6.0 has the field twice: first the old field, and later the
    /// current one. This property keeps only the last field of each name. The tests themselves write no document in
    /// which a name occurs twice.
    var withoutStaleFields: BSONDocument {
        let all = (try? elements()) ?? []
        let names = Set(all.map(\.name))
        guard names.count < all.count || all.contains(where: { $0.value.document != nil }) else { return self }
        let kept = all.enumerated().filter { index, one in !all[(index + 1)...].contains { $0.name == one.name } }
        return BSONDocument(
            kept.map { _, one in
                switch one.value {
                case .object(let inner): (one.name, .object(inner.withoutStaleFields))
                case .array(let inner): (one.name, .array(inner.withoutStaleFields))
                default: (one.name, one.value)
                }
            })
    }
}
