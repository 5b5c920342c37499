import Testing

@testable import JobState
@testable import Jobs
@testable import Steps

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
                == "order.yml:5:5: \"age\" is changed in place after another step has read it: put this step first"
        }
    }

    @Test(arguments: ["embed: {field: dog, from: app.Dog}", "extract: {field: dog, to: app.Dog, idFrom: key}"])
    func aStepThatReadsBeforehandWhatAnEarlierStepChangesIsRefused(_ step: String) throws {
        let job = try JobFile.parse(
            """
            job: order
            collection: app.Person
            steps:
              - rename: {from: pet, to: dog}
              - \(step)
            """, path: "order.yml")
        #expect {
            try CompiledJob(job, active: nil, next: nil)
        } throws: { error in
            "\(error)"
                == "order.yml:5:5: \"dog\" is changed by the step in line 4, but this step reads it in all documents "
                + "before anything is written: put this step into a job of its own, which `migrate` runs after this one"
        }
    }

    @Test func aFieldThatGetFieldNamesIsRead() throws {
        let job = try JobFile.parse(
            """
            job: order
            collection: app.Person
            steps:
              - rename: {from: pet, to: dog}
              - default: {field: kind, value: none}
                where: {$eq: [{$getField: dog}, rex]}
            """, path: "order.yml")
        #expect(throws: (any Error).self) { try CompiledJob(job, active: nil, next: nil) }
    }

    @Test func aGeneratedIDNeedsNoEarlyRead() throws {
        let job = try JobFile.parse(
            """
            job: order
            collection: app.Person
            steps:
              - rename: {from: pet, to: dog}
              - extract: {field: dog, to: app.Dog, generate: uuid}
            """, path: "order.yml")
        #expect(try CompiledJob(job, active: nil, next: nil).phases.count == 2)
    }
}
