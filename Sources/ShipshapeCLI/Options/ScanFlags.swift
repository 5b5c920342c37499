internal import ArgumentParser
internal import BSON
internal import Checking
internal import Scanning

/// The flags for reading documents: which documents, from which collections, and how fast.
struct ScanFlags: ParsableArguments {
    @Option(help: ArgumentHelp("How many parts of a collection to read at the same time.", valueName: "count"))
    var threads = 2

    @Option(
        help: ArgumentHelp(
            "The most documents to read per second, over all threads, to spare a busy server.",
            valueName: "count"))
    var rate: Int?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Read only the documents that match a filter, in extended JSON; the others are not checked.",
            valueName: "filter"),
        transform: Self.filter(parsing:))
    var filter: BSONDocument?

    @Option(
        help: ArgumentHelp(
            "Read only this many random documents of each collection; quick, but proves nothing.",
            valueName: "count"))
    var sample: Int?

    @Option(
        help: ArgumentHelp(
            "Read only one part of each collection, such as 3/8; merge joins the reports of all parts.",
            discussion: "The first run decides by _id where each part begins, and stores that in the state database.",
            valueName: "number/parts"),
        transform: Self.part(parsing:))
    var part: CheckPart?

    @Flag(help: "Also count the documents one by one, to compare with the count in the server's metadata.")
    var count = false

    @Flag(
        help: ArgumentHelp(
            "Let the server leave out documents that a filter proves good; for slow links and sharded clusters.",
            discussion: "The findings are the same, because all documents that the filter cannot prove good are read."))
    var prefilter = false

    @Option(
        help: ArgumentHelp(
            "Read a database or a collection of the schema under another name (repeatable).",
            discussion: "Ledger entries are still looked up by the schema's names.", valueName: "prod=copy"))
    var map: [NamespaceMapping] = []

    func validate() throws {
        guard threads >= 1, threads <= 64 else { throw ValidationError("--threads must be from 1 to 64") }
        if let rate, rate < 1 { throw ValidationError("--rate must be at least 1") }
        if let sample, sample < 1 { throw ValidationError("--sample must be at least 1") }
        if part != nil, filter != nil || sample != nil {
            throw ValidationError("--part does not go with --where or --sample: merge joins only complete parts")
        }
        if sample != nil, prefilter {
            throw ValidationError("--prefilter does not go with --sample: the sample would lack what is left out")
        }
    }

    /// Refuses the flags that need a live deployment, for a check of a dump.
    func requireNothingLive() throws {
        let asked = [
            ("--where", filter != nil), ("--sample", sample != nil), ("--part", part != nil), ("--count", count),
            ("--prefilter", prefilter),
            ("--rate", rate != nil),
        ]
        if let (flag, _) = asked.first(where: \.1) {
            throw UsageError("\(flag) needs a live deployment: with --source, every document is read")
        }
    }

    /// Reads the value of `--part`.
    static func part(parsing text: String) throws -> CheckPart {
        guard let part = CheckPart(text) else {
            throw ValidationError("it is not NUMBER/PARTS, such as 3/8, of at most \(CheckPart.maximumCount) parts")
        }
        return part
    }

    /// Reads the value of `--where`.
    static func filter(parsing text: String) throws -> BSONDocument {
        do throws(BSONError) {
            return try BSONDocument(extendedJSON: text)
        } catch {
            throw ValidationError(
                "it is not one object of extended JSON, such as {\"age\": {\"$gte\": 18}}: \(error)")
        }
    }
}
