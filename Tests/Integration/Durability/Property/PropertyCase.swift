import BSON
import Mongo
import Proving
import TestSupport

/// One random job over one random collection, with a user who writes at the same time and runners that are killed.
///
/// The seed determines the job, the documents, and the writes of the user.
struct PropertyCase {
    let seed: UInt64
    let test: BackfillCase
    let job: ModelJob
    let user: PropertyUser
    /// The documents at the start, before the first write of the job or the user, by `_id`.
    let original: [PropertyKey: BSONDocument]
    /// The name of the bug that the program injects into itself; `nil` for none.
    let plant: String?
    /// The collation of the collection; `nil` for none.
    let collation: BSONDocument?
    var random: Randomness
    var trail: [String] = []

    /// Creates the collection, the job and the user that a seed determines.
    init(seed: UInt64, in test: BackfillCase, plant: String? = nil) async throws {
        var random = Randomness(seed: seed)
        var documents = PropertyDocuments(
            random: Randomness(seed: random.next()), ids: random.pick([.mixed, .mixed, .numbers, .names]))
        let job = ModelJob.random(using: &random)
        documents.repeatsNames = job.isKnown
        let collation: BSONDocument? =
            random.percent(20)
            ? random.pick([["locale": "en", "strength": 2], ["locale": "de", "numericOrdering": true]])
            : nil
        try await test.database.create("c", collation: collation)
        let count = random.pick([0, 1, 5, 40, 150, 150, 300])
        let first = (0..<count).map { _ in BSONValue.object(documents.document()) }
        if !first.isEmpty {
            do {
                try await test.database.run(["insert": "c", "documents": .array(of: first), "ordered": false])
            } catch let error as MongoError where !error.isTransient {}  // documents may have the same `_id`
        }
        try test.write("active.json", ModelJob.activeSchema)
        try test.job(
            on: "c", steps: job.steps.map(\.yaml), limits: job.limits,
            more: job.hasBudget ? "schema: {active: active.json}" : "")
        let original = try await test.database.keyed()
        user = PropertyUser(
            test.database, random: Randomness(seed: random.next()), documents: documents,
            ids: original.values.compactMap { $0["_id"] } + (0..<5).map { _ in documents.id() }, job: job)
        self.seed = seed
        self.test = test
        self.job = job
        self.original = original
        self.plant = plant
        self.collation = collation
        self.random = random
    }

    /// Causes disturbances, such as kills and user writes, then runs the job a last time, and checks its result and its
    /// undo.
    ///
    /// - Parameter disturbances: the disturbances before the last run; `nil` chooses them at random, by the seed.
    mutating func run(_ disturbances: [PropertyDisturbance]?) async throws {
        var some: [PropertyDisturbance] = []
        for _ in 0..<random.pick([0, 1, 1, 2, 3]) { some.append(random.pick(PropertyDisturbance.mix)) }
        for disturbance in disturbances ?? some { try await happen(disturbance) }
        trail.append("the last run")
        let last = try await backfill(flags: ["SHIPSHAPE_LEASE_WAIT=3m"])
        guard let code = last.exitCode, code < 2 else {
            throw violation(.ending, "the last run ended with \(last.status), \(try await open()): \(last.errors)")
        }
        try await checkEnd(last)
        try await checkUndo()
    }

    func violation(_ kind: PropertyViolation.Kind, _ text: String) -> PropertyViolation {
        PropertyViolation(
            kind: kind,
            description:
                "\(text)\n  job: \(job.steps.map(\.yaml)), \(job.limits)\(job.hasBudget ? ", gated" : "")\n  after: "
                + "\(trail.joined(separator: "; "))"
        )
    }

    /// Runs the job.
    ///
    /// If the flags do not set the duration of the lease, the duration is 20 seconds, so that the next run soon gets
    /// the lease after a kill.
    func backfill(
        flags: [String] = [], fault: String? = nil, during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let given = [
            "backfill", test.path(), "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "--yes",
            "--output", "json", "SHIPSHAPE_LEASE_TTL=20s",
        ]
        return try await Program.run(
            given + flags, fault: fault, plant: plant, during: during)
    }
}

extension TestDatabase {
    /// Returns the documents of the collection `c`, by `_id`.
    func keyed() async throws -> [PropertyKey: BSONDocument] {
        let documents = try await documents("c")
        return Dictionary(uniqueKeysWithValues: documents.map { (PropertyKey($0["_id"] ?? .null), $0) })
    }
}
