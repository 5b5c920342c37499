internal import ArgumentParser
internal import BSON
internal import Checking

/// Which documents a check reads, and how.
struct ScanSelection {
    /// The filter for the documents to read; `nil` for all.
    var filter: BSONDocument?
    /// How many random documents to read; `nil` for all.
    var sample: Int?
    /// The part of each collection to read; `nil` for the whole.
    var part: CheckPart?
    /// The other names under which databases and collections are read.
    var map: [NamespaceMapping] = []

    var threads: Int { Settings.current[Known.threads] }
    var rate: Int? { Settings.current[Known.rate] }
    var prefilter: Bool { Settings.current[Known.prefilter] }
}

/// The options for reading documents: which documents, and from which collections.
struct ScanFlags: ParsableArguments {
    @OptionGroup var reading: ReadingFlags

    @Option(
        help: ArgumentHelp(
            "Read only one part of each collection, such as 3/8; --join joins the reports of all parts.",
            discussion: "The first run decides by _id where each part begins, and stores that in the state database.",
            valueName: "number/parts"),
        transform: Self.part(parsing:))
    var part: CheckPart?

    @Option(
        help: ArgumentHelp(
            "Read a database or a collection of the schema under another name (repeatable).",
            discussion: "Ledger entries are still looked up by the schema's names.", valueName: "prod=copy"))
    var map: [NamespaceMapping] = []

    /// Which documents the check reads.
    var options: ScanSelection {
        ScanSelection(filter: reading.filter, sample: reading.sample, part: part, map: map)
    }

    /// Reads the value of `--part`.
    static func part(parsing text: String) throws -> CheckPart {
        guard let part = CheckPart(text) else {
            throw ValidationError("it is not NUMBER/PARTS, such as 3/8, of at most \(CheckPart.maximumCount) parts")
        }
        return part
    }
}

/// The options that select the documents to read.
struct ReadingFlags: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Read only the documents that match a filter, in extended JSON.", valueName: "filter"),
        transform: Self.filter(parsing:))
    var filter: BSONDocument?

    @Option(
        help: ArgumentHelp(
            "Read only this many random documents of each collection; quick, but proves nothing.",
            valueName: "count"))
    var sample: Int?

    func validate() throws {
        if let sample, sample < 1 { throw ValidationError("--sample must be at least 1") }
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
