import BSON
import Checking
import Conformance
import Proving
import ServerSchema
import TestSupport
import Testing

/// Tests the checker with random App Services schemas and random documents.
///
/// The checker's verdict on a document must agree with the violations that the checker lists. The checker also counts
/// documents in groups of violations, and the filter of a group must find the documents that the group counts.
@Suite struct AppServicesFilterTests {
    @Test(.server(from: 5, for: "field names with a leading $"), arguments: [21, 22, 23] as [UInt64])
    func generated(seed: UInt64) async throws {
        var generator = CaseGenerator(seed: seed)
        var groupCount = 0
        for _ in 0..<60 {
            let sample = generator.next()
            // The driver refuses filters with an empty field name, although mongosh sends them.
            guard let text = sample.appServicesText, !text.contains("\"\" :") else { continue }
            guard let read = try? ServerSchema.read(text: text, namespace: Self.namespace) else { continue }
            let schema = CompiledSchema(read.collections[0])
            for document in sample.documents { try expectOneVerdict(of: document, under: schema, text) }
            groupCount += try await FilteredGroup.compare(sample.plainDocuments, text).count
        }
        #expect(groupCount > 200)
    }

    private static let namespace = Namespace(database: "app", collection: "a")

    private func expectOneVerdict(of document: BSONDocument, under schema: CompiledSchema, _ text: String) throws {
        let levels = try schema.violations(in: document.view, includingInfo: true).map(\.level)
        let worst: Verdict =
            switch levels.max() {
            case nil, .info: .fits
            case .warning: .warning
            case .possible: .possible
            case .certain: .certain
            }
        #expect(try schema.check(document.view) == worst, "\(document) under \(text)")
    }
}
