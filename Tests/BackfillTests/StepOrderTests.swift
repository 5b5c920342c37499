import Testing

@testable import Backfill

@Suite struct StepOrderTests {
    @Test func aCopyOfAFieldThatIsConvertedLaterIsRefused() throws {
        let job = try JobFile.parse(
            """
            job: order
            collection: app.Person
            steps:
              - copy: {from: age, to: years}
              - convert: {field: age, to: int}
            """, path: "order.yml")
        #expect {
            try CompiledJob(job, active: nil, next: nil)
        } throws: { error in
            "\(error)"
                == "order.yml:5:5: \"age\" is converted in place after another step has copied it: put this step first"
        }
    }
}
