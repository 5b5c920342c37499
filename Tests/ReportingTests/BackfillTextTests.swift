import JobReports
import JobState
import Jobs
import Reporting
import Running
import ServerSchema
import Steps
import Testing

@Suite struct BackfillTextTests {
    private func text(_ report: BackfillReport, showsValues: Bool = false, next: [String] = []) -> String {
        BackfillResult(report, showsValues: showsValues, nextCommands: next).text(.file)
    }

    @Test func theTextShowsTheChangesAndTheRest() {
        #expect(
            text(.fixture(.done), next: ["Next: shipshape check v2"]) == """
                job person-v2 on app.Person: done
                  changed 1,790 of 100,000 documents in 20 chunks, 5.8 s
                  made 1,200 documents unsyncable under the active schema (unsynced documents: 1,292 in the ledger \
                and 10 pending; the job stops at 90,000)

                Steps:
                  step                                 to change  remaining
                  convert age to int                       1,789          0
                  default a.b: a value of type string          1          0

                convert age to int
                  skipped, cannot be converted: 2, such as _id NumberLong("5")

                default a.b: a value of type string
                  nothing to do, parent is missing: 29,856, such as _id ObjectId("507f1f77bcf86cd799439011"), 7, "x"

                Note: irreversible: "age" is converted in place

                Next: shipshape check v2

                """)
    }

    @Test func aFieldsNameDoesNotSteerTheTerminal() {
        var report = BackfillReport.fixture(.done)
        report.after[0].step = "convert \u{1B}[31mage to int"
        #expect(!text(report).unicodeScalars.contains("\u{1B}"))
        var plan = BackfillPlan.fixture()
        plan.notes.append("irreversible: \u{1B}[31mage")
        #expect(!plan.text.unicodeScalars.contains("\u{1B}"))
    }

    @Test func aDryRunSaysWhatWouldBe() {
        #expect(
            text(.dryRun) == """
                job person-v2 on app.Person: dry run, nothing was written
                  would change 1,790 of 100,000 documents in 20 chunks, 5.8 s
                  unsyncable under the next schema: 18,523 documents now, 2 after the job
                  would make 1,200 documents unsyncable under the active schema (unsynced documents: 1,292 in the \
                ledger and 10 pending; the job stops at 90,000)

                Steps:
                  step                                 to change
                  convert age to int                       1,789
                  default a.b: a value of type string          1

                For example:
                  _id  change
                  1    age string → int
                  "x"  a.b missing → string

                convert age to int
                  skipped, cannot be converted: 2, such as _id NumberLong("5")

                default a.b: a value of type string
                  nothing to do, parent is missing: 29,856, such as _id ObjectId("507f1f77bcf86cd799439011"), 7, "x"

                Note: irreversible: "age" is converted in place

                Next: the same command without --dry-run

                """)
    }

    @Test func valuesOnlyWhenAsked() {
        let text = text(.dryRun, showsValues: true)
        #expect(text.contains("  1    age \"36\" → 36\n"))
        #expect(text.contains("  \"x\"  a.b missing → \"US\"\n"))
    }

    @Test func aRepairHasNoNextSchema() {
        var report = BackfillReport.dryRun
        report.isRepair = true
        #expect(text(report).contains("  unsyncable: 18,523 documents now, 2 after the job\n"))
        report.unsyncable = (before: nil, after: 2, dialect: .prisma)
        #expect(text(report).contains("  still unreadable: 2 documents\n"))
    }

    @Test func aStopSaysWhyAndHowToContinue() {
        func headline(_ stop: RunStop) -> String? {
            text(.fixture(.stopped(stop))).split(separator: "\n").first.map(String.init)
        }
        let job = "job person-v2 on app.Person: stopped"
        #expect(headline(.signal) == "\(job) by a signal; run it again to continue")
        #expect(headline(.timeBudget) == "\(job) by the time budget (--max-runtime); run it again to continue")
        #expect(
            headline(.threshold(Headroom(ledger: nil, pending: 1_000, ceiling: 90_000)))
                == "\(job) by the limit of unsynced documents: no ledger and 1,000 pending; the job stops at 90,000; "
                + "free some room first: \(Headroom.remedies(for: "person-v2")); then run it again")
    }

    @Test func oneOfAThingIsNotMany() {
        var report = BackfillReport.fixture(.done)
        (report.work.modified, report.estimatedDocuments, report.work.chunks, report.work.earlierChunks) = (1, 1, 1, 1)
        (report.madeUnsyncable, report.headroom) = (1, nil)
        let text = text(report)
        #expect(text.contains("  changed 1 of 1 document in 1 chunk, 5.8 s (after 1 chunk of earlier runs)\n"))
        #expect(text.contains("  made 1 document unsyncable under the active schema\n"))
    }

    @Test func aRefusedRunHasNoNextCommand() {
        var dryRun = BackfillReport.dryRun
        dryRun.refusal = "it has no room"
        #expect(text(dryRun).contains("Note: a run would be refused: it has no room"))
        #expect(!text(dryRun).contains("Next: "))
        #expect(!text(.fixture(.done)).contains("Next: "))
    }

    @Test func colorsOnlyWhenAsked() {
        let result = BackfillResult(.fixture(.nothingToDo), showsValues: false)
        #expect(
            result.text(TextLayout(isColored: true)).hasPrefix(
                "\u{1B}[33;1mjob person-v2 on app.Person: nothing to do\u{1B}[0m\n"))
        #expect(!result.text(TextLayout()).contains("\u{1B}"))
    }
}

@Suite struct BackfillPlanTextTests {
    @Test func thePlanThatTheOperatorApproves() {
        #expect(
            BackfillPlan.fixture(resumesAfter: 12).text == """
                job person-v2 on app.Person: 1,790 of 100,000 documents need it
                  resumes after 12 chunks of earlier runs
                  makes 1,200 documents unsyncable under the active schema (unsynced documents: 1,292 in the ledger \
                and 10 pending; the job stops at 90,000)

                Steps:
                  step                                 to change
                  convert age to int                       1,789
                  default a.b: a value of type string          1

                convert age to int
                  skipped, cannot be converted: 2, such as _id NumberLong("5")

                default a.b: a value of type string
                  nothing to do, parent is missing: 29,856, such as _id ObjectId("507f1f77bcf86cd799439011"), 7, "x"

                Note: irreversible: "age" is converted in place

                """)
    }

    @Test func oneDocumentNeedsIt() {
        #expect(BackfillPlan.fixture(needing: 1).text.contains(": 1 of 100,000 documents needs it\n"))
    }
}
