import ArgumentParser
import BSON
import Concurrency
import Conformance
import Mongo
import Proving
import SystemPackage

/// The tool that compares the verdicts of the `jsonschema` dialect with mongod's.
@main
struct ConformanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance",
        abstract: "Compares the verdicts of the jsonschema dialect with mongod's.",
        discussion: """
            CASES holds a JSON object on each line, in extended JSON: {"schema": …, "document": …, "expected": \
            true|false|null, "schema_error": null|{"code": …, "message": …}}. Where expected is null and schema_error \
            is set, the schema must be refused. Ends with 1 when there is a disagreement. --generate without --oracle \
            prints the cases in that form, with the dialect's own verdicts.
            """)

    @Argument(help: "A file of cases, one on a line; - for standard input.")
    var cases: String?

    @Option(help: "Asks this deployment for the verdicts, whatever the cases expect.")
    var oracle: String?

    @Option(help: "How many random cases to make.")
    var generate: Int?

    @Option(help: "What determines the random cases.")
    var seed: UInt64 = 1

    func validate() throws {
        guard (cases == nil) != (generate == nil) else {
            throw ValidationError("give a file of cases, or --generate")
        }
    }

    func run() async throws {
        if let generate, oracle == nil { return try write(GeneratedCases(count: generate, seed: seed)) }
        let source: any CaseSource =
            try generate.map { GeneratedCases(count: $0, seed: seed) } ?? CaseFile(cases ?? "-", addsIDs: oracle != nil)
        let oracle = oracle
        let comparison = try await onOwnedThread(name: "conformance") {
            var comparison = Comparison()
            try comparison.run(source, oracle: oracle)
            return comparison
        }
        print(
            "\(comparison.agreedCount) agreed, \(comparison.disagreedCount) disagreed, \(comparison.unansweredCount) "
                + "without an answer"
        )
        if generate != nil {
            print("seed \(seed): \(comparison.fittingCount) fit, \(comparison.refusedCount) schemas refused")
        }
        if comparison.disagreedCount > 0 { throw ExitCode(1) }
    }

    /// Prints the generated cases with the checker's verdicts, instead of comparing the verdicts with mongod's.
    private func write(_ cases: GeneratedCases) throws {
        var cases = cases
        while let batch = cases.next() {
            for (group, _) in batch {
                let schema = JudgingSchema(group.schema)
                for document in group.documents {
                    print(try CaseLine(group.schema, document, schema.answer(for: document)).text)
                }
            }
        }
    }
}
