import Checking
import Concurrency
import Mongo
import Proving
import Scanning
import ServerSchema

extension CheckRun {
    /// Returns the server with whose verdicts those of the check are compared; `nil` if they are not compared.
    ///
    /// Only the verdicts on a validator have a counterpart on the server.
    func comparedServer(on pool: ClientPool) async throws -> BuildInfo? {
        guard hasSchema, schema.dialect == .jsonSchema else { return nil }
        let build = try await pool.withClient { client throws(MongoError) in try client.buildInfo() }
        return comparesVerdicts || !build.isTested ? build : nil
    }

    /// Compares a sample of the verdicts on a collection with the server's own.
    /// - Parameters:
    ///   - part: the result of the scan, whose failing documents are a part of the sample.
    ///   - duration: the duration of the scan, a twentieth of which the comparison may take.
    func compare(
        _ collection: CollectionSchema, _ part: CheckReport.Collection, with build: BuildInfo, after duration: Duration,
        _ options: ScanOptions, on pool: ClientPool
    ) async throws -> VerdictComparison {
        guard !options.isView else {
            var comparison = VerdictComparison(version: build.version)
            comparison.restriction = "it is a view"
            return comparison
        }
        var rules = rules
        rules.assumptions.engine = nil
        let sample = VerdictSample(
            of: rules.compile(collection, of: schema), as: collection.root.jsonSchema, selection: options.selection,
            on: build)
        let failing = part.groups.flatMap(\.sampleIDs)
        let namespace = map.target(of: collection.namespace)
        return try await onOwnedThread(name: "verdicts") { () throws in
            try sample.compare(
                in: try pool.client().collection(namespace), of: part.judgedCount, failing: failing,
                for: duration / 20, options: options)
        }
    }
}
