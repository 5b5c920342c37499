package import BSON
internal import Checking
package import Concurrency
package import Files
package import Inferring
internal import Scanning
internal import ServerSchema

/// One run of `schema infer`: reads each collection twice, or a sample of it once, and puts the report together.
package struct InferRun: Sendable {
    /// The documents that a run reads, and how fast.
    package struct Reading: Sendable {
        package var filter: BSONDocument?
        /// The number of random documents to read of each collection; `nil` for all.
        package var sample: Int?
        package var threads = 2
        /// The most documents to read per second; `nil` for no limit.
        package var rate: Int?

        /// Creates a description of all documents, which are read as fast as possible.
        package init() {}
    }

    let options: InferOptions
    let reading: Reading
    /// The collections that the operator names; empty for all collections of a database or a dump.
    let namespaces: [Namespace]
    /// The database that the operator names; `nil` if there is none.
    let database: String?
    let target: SchemaTarget
    /// The descriptions of the indexes of each collection, if the schemas shall have them.
    var indexes: [Namespace: [BSONDocument]] = [:]
    /// Returns the display of a reading's progress, whose parameter is the number of documents to read.
    let makeProgress: @Sendable (Int?) -> any ScanProgress
    let stop: StopSignal

    /// Creates a run.
    /// - Parameters:
    ///   - namespaces: the collections that the operator names; empty for all collections of a database or a dump.
    ///   - database: the database that the operator names; `nil` if there is none.
    ///   - makeProgress: returns the display of a reading's progress; its parameter is the number of documents to read.
    package init(
        options: InferOptions, reading: Reading, namespaces: [Namespace], database: String?, target: SchemaTarget,
        makeProgress: @escaping @Sendable (Int?) -> any ScanProgress, stop: StopSignal
    ) {
        (self.options, self.reading, self.namespaces, self.database) = (options, reading, namespaces, database)
        (self.target, self.makeProgress, self.stop) = (target, makeProgress, stop)
    }

    /// The maximum size of all documents of a sample together, in bytes.
    private static let maximumSampleBytes = 1 << 30

    func scanOptions(_ progress: any ScanProgress) -> ScanOptions {
        var scan = ScanOptions()
        scan.threads = reading.threads
        scan.filter = reading.filter ?? [:]
        scan.rate = reading.rate.map { RateLimit(perSecond: $0) }
        scan.isStopped = { [stop] in stop.isRaised }
        scan.listeners.progress = { progress.add($0) }
        scan.listeners.onRestart = { progress.note("the collection is read again, by _id: \($0)") }
        return scan
    }

    /// Returns the options for the second reading, which checks each document against two schemas.
    ///
    /// The first schema is inferred from all documents, the second from only half of them. The share of documents in
    /// the other half that do not fit the second schema shows how many new documents might not fit the first schema.
    func checking(_ inference: Inference, _ scan: ScanOptions) -> ScanOptions {
        var scan = scan
        scan.judging.active = .covered(inference.trained)
        return scan
    }

    /// Returns one inferred schema for each survey, in the order of the surveys.
    func inferences(_ surveys: [(namespace: Namespace, survey: Survey)]) throws -> [Inference] {
        let titles = TypeTitles.roots(
            of: surveys.map(\.namespace.collection), isPascalCase: options.dialect == .prisma)
        return try zip(surveys, titles).map { found, title in
            try Inference(
                found.survey, of: found.namespace, options: options, title: title,
                titles: Set(titles).subtracting([title]), indexes: indexes[found.namespace] ?? [])
        }
    }

    /// Infers a schema for each collection from a sample of its documents, which is held in memory.
    func infer(_ samples: [(namespace: Namespace, documents: [BSONDocument])]) throws -> [InferReport.Collection] {
        let surveys = try samples.map { namespace, documents in
            var survey = Survey(options)
            for document in documents { try survey.add(document.view) }
            return (namespace: namespace, survey: survey)
        }
        return try zip(inferences(surveys), samples).map { inference, sample in
            var tally = Tally(inference.compiled, active: .covered(inference.trained))
            for document in sample.documents { try tally.add(document.view) }
            return InferReport.Collection(
                inference, Outcome(tally, of: inference), sampleSize: reading.sample, filter: reading.filter)
        }
    }

    /// Refuses a sample that is too large to keep in memory.
    static func checkSize(ofSample bytes: Int) throws {
        guard bytes > maximumSampleBytes else { return }
        throw UsageError("--sample: these documents exceed 1 GiB: sample fewer, or leave --sample out to read all")
    }

    /// Refuses a source without documents.
    static func requireDocuments(_ collections: [InferReport.Collection], of source: String) throws {
        guard collections.isEmpty else { return }
        throw InputError("no schema can be inferred: no documents were found in \(source)")
    }

    static func emptyNote(_ namespace: Namespace) -> String {
        "\(namespace) has no documents to infer a schema from"
    }
}
