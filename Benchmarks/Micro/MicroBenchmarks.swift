import ArgumentParser
import BSON

/// Measures single parts of the program on one thread, mostly in memory.
///
/// The package ordo-one/benchmark is not used, because its counter of allocations always reads 0 in these benchmarks.
@main
struct MicroBenchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shipshape-bench",
        abstract: "Measures the checker, the readers and the renderers, in memory and on one thread.",
        discussion: """
            Times are processor time of the thread, so that what else runs on the machine weighs little. Allocations \
            are counted where Benchmarks/mallocs.c is preloaded, as scripts/micro does.
            """)

    @Option(help: "How many documents of about 300 bytes.")
    var documents = 200_000

    @Option(help: "How often each is measured, after one round that is not.")
    var repetitions = 9

    @Option(help: "Only those whose name holds this text.")
    var only: String?

    @Flag(help: "Print JSON instead of a table.")
    var json = false

    func validate() throws {
        guard documents >= 1_000 else { throw ValidationError("--documents: at least 1000") }
        guard repetitions >= 1 else { throw ValidationError("--repetitions: at least 1") }
    }

    func run() throws {
        var bench = Bench(repetitions: repetitions, only: only)
        try bench.measureChecks(documents: documents)
        try bench.measureReaders(documents: documents)
        try bench.measureReports()
        try bench.measureGrowth()
        print(json ? try bench.results.json : bench.results.table)
    }
}
