import BSON
import Proving
import TestSupport
import Testing

/// Tests most kinds of steps, with most of their options, over all values in ``OddValues`` except the huge text.
@Suite struct StepsEveryKindTests {
    @Test(arguments: StepCases.forms) func isSound(_ form: String) async throws {
        try await Mongod.shared.withDatabase { database in
            let run = try await StepsRun(try step(form), over: StepCases.documents, in: database)
            try run.expectSound()
            // A step that changes no document would test nothing.
            #expect(run.modified > 0)
        }
    }
}
