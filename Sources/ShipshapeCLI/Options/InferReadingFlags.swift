internal import ArgumentParser
internal import BSON

/// The flags for the documents that a schema is inferred from, and for how they are read.
struct InferReadingFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read this many documents of each collection, chosen at random; default: all.", valueName: "count"))
    var sample: Int?

    @Option(
        help: ArgumentHelp(
            "Make --sample choose the same documents of a --source each time; a server's choice cannot be repeated.",
            valueName: "number"))
    var seed: UInt64?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("Read only the documents that match a filter, in extended JSON.", valueName: "filter"),
        transform: ScanFlags.filter(parsing:))
    var filter: BSONDocument?

    @Option(help: ArgumentHelp("How many parts of a collection to read at the same time.", valueName: "count"))
    var threads = 2

    @Option(
        help: ArgumentHelp("The most documents to read per second, over all threads.", valueName: "count"))
    var rate: Int?

    func validate() throws {
        guard threads >= 1, threads <= 64 else { throw ValidationError("--threads must be from 1 to 64") }
        if let rate, rate < 1 { throw ValidationError("--rate must be at least 1") }
        if let sample, sample < 1 { throw ValidationError("--sample must be at least 1") }
        if seed != nil, sample == nil { throw ValidationError("--seed needs --sample: all documents are read") }
    }
}
