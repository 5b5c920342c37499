import BSON
import Jobs
import Mongo
import Steps

/// Compares what steps of jobs make of documents in the client with what a server makes of them.
struct ComputingProof: GroupProof {
    var part = Proof.Part(.computing)

    private let server: MongoCollection
    private let wireVersion: Int
    private var random: Randomness
    private var turn = 0
    /// The steps that meet the odd values, each with the phases that the client computes.
    let forms: [(text: String, phases: [PhaseComparison])]

    private static let batch = 60

    /// The number of steps that were not compared yet; `nil` if all were.
    var openSteps: Int? { turn < forms.count ? forms.count - turn : nil }

    init(on server: MongoCollection, wireVersion: Int, seed: UInt64) {
        self.server = server
        self.wireVersion = wireVersion
        random = Randomness(seed: seed)
        forms = (StepCases.forms + StepCases.moves).map { ($0, Self.phases([$0], wireVersion: wireVersion)) }
    }

    /// Returns the phases of a job with these steps that the client computes; none if the job is refused.
    static func phases(_ steps: [String], wireVersion: Int) -> [PhaseComparison] {
        let text = "job: prove\ncollection: prove.documents\nsteps:\n" + steps.map { "  - \($0)\n" }.joined()
        guard let job = try? JobFile.parse(text, path: "prove.yml"),
            let compiled = try? CompiledJob(job, active: nil, next: nil)
        else { return [] }
        return compiled.compiled(for: wireVersion).resolved(at: 1_700_000_000_000).phases
            .compactMap(PhaseComparison.init)
    }

    mutating func next() throws(MongoError) {
        defer { turn += 1 }
        // Each step meets the odd values first. Then come random documents, also for jobs of several random steps.
        let (round, index) = turn.quotientAndRemainder(dividingBy: forms.count)
        let odd = (StepCases.repeated + StepCases.documents).dropFirst(round * Self.batch).prefix(Self.batch)
        if !odd.isEmpty {
            try compare(forms[index].phases, of: forms[index].text, over: Array(odd))
        } else if random.percent(50) {
            let documents = (0..<Self.batch).map { StepCases.document($0, &random) }
            try compare(forms[index].phases, of: forms[index].text, over: documents)
        } else {
            let steps = (0..<1 + random.below(3)).map { _ in StepCases.step(&random) }
            let documents = (0..<Self.batch).map { StepCases.nested($0, &random) }
            try compare(
                Self.phases(steps, wireVersion: wireVersion), of: steps.joined(separator: "; "), over: documents)
        }
    }

    private mutating func compare(
        _ phases: [PhaseComparison], of text: String, over documents: [BSONDocument]
    ) throws(MongoError) {
        for phase in phases {
            let outcome = try phase.compare(documents, on: server)
            part.compared(phase.operators, count: outcome.compared)
            for failure in outcome.failures { part.isUnanswered(failure) }
            for difference in outcome.differences { try differs(difference, phase, text) }
        }
    }

    /// Records a difference, by the smallest document that shows one.
    private mutating func differs(
        _ difference: PhaseComparison.Difference, _ phase: PhaseComparison, _ text: String
    ) throws(MongoError) {
        guard part.wantsMore, !part.differences.contains(where: { $0.subject == text }) else {
            return part.missed += 1
        }
        let server = server
        let smallest = try Smaller.document(difference.document, keeping: ["_id"]) { smaller throws(MongoError) in
            try phase.compare([smaller], on: server).differences.contains { $0.question == difference.question }
        }
        let shown =
            try phase.compare([smallest], on: server).differences.first { $0.question == difference.question }
            ?? difference
        part.differ(
            text, ["step": .string(text), "document": .object(shown.document)],
            program: "\(shown.question): \(shown.program)", server: shown.server)
    }
}
