import Testing

@testable import JobState
@testable import Jobs
@testable import Steps

@Suite struct StepOrderTests {
    private func compiled(_ steps: String...) throws -> CompiledJob {
        let lines = ["job: order", "collection: app.Person", "steps:"] + steps.map { "  - \($0)" }
        return try CompiledJob(
            JobFile.parse(lines.joined(separator: "\n"), path: "order.yml"), active: nil, next: nil)
    }

    @Test func aCopyOfAFieldThatIsConvertedLaterIsRefused() throws {
        #expect {
            try compiled("copy: {from: age, to: years}", "convert: {field: age, to: int}")
        } throws: { error in
            "\(error)"
                == "order.yml:5:5: \"age\" is changed in place after another step has read it: put this step first"
        }
    }

    @Test(arguments: ["embed: {field: dog, from: app.Dog}", "extract: {field: dog, to: app.Dog, idFrom: key}"])
    func aStepThatReadsBeforehandWhatAnEarlierStepChangesIsRefused(_ step: String) throws {
        #expect {
            try compiled("rename: {from: pet, to: dog}", step)
        } throws: { error in
            "\(error)"
                == "order.yml:5:5: \"dog\" is changed by the step in line 4, but this step reads it in all documents "
                + "before anything is written: put this step into a job of its own, which backfill FOLDER runs after "
                + "this one"
        }
    }

    @Test func theRemovalOfAFieldThatTheClientMaySkipIsRefused() throws {
        #expect {
            try compiled("convert: {field: key, to: uuid, into: id}", "unset: {field: key}")
        } throws: { error in
            "\(error)"
                == "order.yml:5:5: \"key\" would be lost in documents that the step in line 4 skips: remove it by a "
                + "job of its own, once that step skips none"
        }
    }

    /// The second step leaves no trace of whether the first step took the value over.
    @Test(arguments: [
        ("copy: {from: a, to: c.d}", "rename: {from: c, to: e}"),
        ("copy: {from: 'l.[].a', to: 'l.[].c'}", "convert: {field: 'l.[].c', to: int}\n    where: {x: 1}"),
    ]) func theRemovalAfterAChangeOfTheTargetIsRefused(_ taking: String, _ changing: String) throws {
        let unset = "unset: {field: \(taking.contains("[]") ? "'l.[].a'" : "a")}"
        #expect {
            try compiled(taking, changing, unset)
        } throws: { error in
            "\(error)".contains("would be lost where the step in line 4 skipped it: the step in line 5 changes")
        }
        _ = try compiled(taking, unset, changing)
    }

    @Test(arguments: [
        "map: {field: c, lookup: app.Map}", "convert: {field: c, to: uuid}",
        "extract: {field: c, to: app.C, generate: uuid}",
        "dedupe: {field: c, by: equal}",
    ]) func theClientDoesNotChangeWhatAnEarlierStepWroteToASecondField(_ changing: String) throws {
        #expect {
            try compiled("copy: {from: a, to: c}", changing)
        } throws: { error in
            "\(error)".contains("the step in line 4 writes \"c\", and would report in each later run")
        }
    }

    @Test func aRefreshOfNullsThatADefaultFillsIsRefused() throws {
        let copy = "copy: {from: n, to: m, whenPresent: refresh"
        let fill = "default: {field: m, value: 1, when: missingOrNull}"
        #expect {
            try compiled("\(copy)}", fill)
        } throws: { error in
            "\(error)".contains("copies a null that the default in line 5 replaces, without end")
        }
        _ = try compiled("\(copy), when: missingOrNull}", fill)
    }

    @Test func aFieldThatGetFieldNamesIsRead() throws {
        #expect {
            try compiled(
                "rename: {from: pet, to: dog}",
                "default: {field: kind, value: none}\n    where: {$eq: [{$getField: dog}, rex]}")
        } throws: { error in
            "\(error)"
                == "order.yml:5:5: \"where\" reads \"dog\", which the step in line 4 writes before: put that step "
                + "after all steps that read it, or make two jobs"
        }
    }

    @Test func aGeneratedIDNeedsNoEarlyRead() throws {
        let job = try compiled("unset: {field: pet}", "extract: {field: dog, to: app.Dog, generate: uuid}")
        #expect(job.phases.count == 2)
    }
}
