import BSON
import Jobs
import TestSupport
import Testing

/// A test case of a step: a document, the document after the step, and the reasons why the step skips it.
///
/// The document after the step is `nil` if the step does not change it.
struct StepCase: Sendable {
    let document: BSONDocument
    let after: BSONDocument?
    let reasons: [CompiledStep.Reason]

    init(_ document: BSONDocument, _ after: BSONDocument?, _ reasons: CompiledStep.Reason...) {
        self.document = document
        self.after = after
        self.reasons = reasons
    }

    /// Runs a step over the documents of all cases, and compares the results byte by byte.
    ///
    /// - Parameter yaml: the step in the syntax of a job file.
    static func run(
        _ yaml: String, _ cases: [StepCase], sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async throws {
        try await Mongod.shared.withDatabase { database in
            func numbered(_ index: Int, _ document: BSONDocument) throws -> BSONDocument {
                BSONDocument([("_id", .integer(index))] + (try document.elements()))
            }
            let documents = try cases.enumerated().map { try numbered($0.offset, $0.element.document) }
            let run = try await StepsRun(try step(yaml), over: documents, in: database)
            try run.expectSound(sourceLocation: sourceLocation)
            for (index, expected) in cases.enumerated() {
                let after = try numbered(index, expected.after ?? expected.document)
                #expect(
                    run.after[index].bytes == after.bytes, "case \(index): \(run.after[index])",
                    sourceLocation: sourceLocation)
                #expect(
                    run.classes[index].reasons == expected.reasons, "case \(index)", sourceLocation: sourceLocation)
            }
        }
    }
}
