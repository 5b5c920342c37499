import Backfill
import Reporting
import Running
import Steps
import Testing

@Suite struct BackfillTextTests {
    @Test func theTextShowsTheChangesAndTheRest() {
        #expect(
            BackfillReportText.render(.fixture(.done), showsValues: false, color: false) == """
                job person-v2 on app.Person: done
                  changed 1,790 of 100,000 documents in 20 chunks, 5.8 s
                  made 1,200 documents unsyncable under the active schema (unsynced documents: 1,292 in the ledger + \
                10 pending, must stay under 90,000)
                  convert age to int: 0 remaining
                    skipped, cannot be converted: 2, such as _id NumberLong("5")
                  default a.b: a value of type string: 0 remaining
                    skipped, parent is missing: 29,856, such as _id ObjectId("507f1f77bcf86cd799439011"), 7, "x"
                  note: irreversible: "age" is converted in place
                """)
    }

    @Test func aFieldsNameDoesNotSteerTheTerminal() {
        var report = BackfillReport.fixture(.done)
        report.after[0].step = "convert \u{1B}[31mage to int"
        let text = BackfillReportText.render(report, showsValues: false, color: false)
        #expect(!text.unicodeScalars.contains("\u{1B}"))
        var plan = BackfillPlan.fixture()
        plan.notes.append("irreversible: \u{1B}[31mage")
        #expect(!BackfillPlanText.render(plan).unicodeScalars.contains("\u{1B}"))
    }

    @Test func aDryRunSaysWhatWouldBe() {
        #expect(
            BackfillReportText.render(.dryRun, showsValues: false, color: false) == """
                job person-v2 on app.Person: dry run, nothing was written
                  would change 1,790 of 100,000 documents in 20 chunks, 5.8 s
                  unsyncable under the next schema: 18,523 documents now, 2 after the job
                  would make 1,200 documents unsyncable under the active schema (unsynced documents: 1,292 in the \
                ledger + 10 pending, must stay under 90,000)
                  convert age to int: 1,789 to change
                    skipped, cannot be converted: 2, such as _id NumberLong("5")
                  default a.b: a value of type string: 1 to change
                    skipped, parent is missing: 29,856, such as _id ObjectId("507f1f77bcf86cd799439011"), 7, "x"
                  for example:
                    _id 1: age string → int, a.b missing
                    _id "x": age int, a.b missing → string
                  note: irreversible: "age" is converted in place
                """)
    }

    @Test func valuesOnlyWhenAsked() {
        let text = BackfillReportText.render(.dryRun, showsValues: true, color: false)
        #expect(text.contains("    _id 1: age \"36\" → 36, a.b missing\n"))
        #expect(text.contains("    _id \"x\": age 36, a.b missing → \"US\"\n"))
    }

    @Test func aStopSaysWhyAndHowToContinue() {
        func headline(_ stop: RunStop) -> String? {
            BackfillReportText.render(.fixture(.stopped(stop)), showsValues: false, color: false)
                .split(separator: "\n").first.map(String.init)
        }
        let job = "job person-v2 on app.Person: stopped"
        #expect(headline(.signal) == "\(job) by a signal; run it again to continue")
        #expect(headline(.timeBudget) == "\(job) by the time budget (--max-runtime); run it again to continue")
        #expect(
            headline(.threshold(Headroom(ledger: nil, pending: 1_000, ceiling: 90_000)))
                == "\(job) by the limit of unsynced documents: no ledger + 1,000 pending, must stay under 90,000; "
                + "free some room first: \(Headroom.remedies(for: "person-v2")); then run it again")
    }

    @Test func oneOfAThingIsNotMany() {
        var report = BackfillReport.fixture(.done)
        (report.work.modified, report.estimatedDocuments, report.work.chunks, report.work.earlierChunks) = (1, 1, 1, 1)
        (report.madeUnsyncable, report.headroom) = (1, nil)
        let text = BackfillReportText.render(report, showsValues: false, color: false)
        #expect(text.contains("  changed 1 of 1 document in 1 chunk, 5.8 s (after 1 chunk of earlier runs)\n"))
        #expect(text.contains("  made 1 document unsyncable under the active schema\n"))
    }

    @Test func theTextEndsWithTheNextCommand() {
        var dryRun = BackfillReport.dryRun
        let text = BackfillResult(dryRun, showsValues: false).text(.file)
        #expect(text.hasSuffix("\n  next: the same command without --dry-run"))
        dryRun.refusal = "it has no room"
        #expect(!BackfillResult(dryRun, showsValues: false).text(.file).contains("next:"))
        let done = BackfillResult(.fixture(.done), showsValues: false, nextCommands: ["next: shipshape check v2"])
        #expect(done.text(.file).hasSuffix("\n  next: shipshape check v2"))
        #expect(!BackfillResult(.fixture(.done), showsValues: false).text(.file).contains("next:"))
    }

    @Test func colorsOnlyWhenAsked() {
        let text = BackfillReportText.render(.fixture(.nothingToDo), showsValues: false, color: true)
        #expect(text.hasPrefix("\u{1B}[1mjob person-v2 on app.Person: nothing to do\u{1B}[0m\n"))
    }
}

@Suite struct BackfillPlanTextTests {
    @Test func thePlanThatTheOperatorApproves() {
        #expect(
            BackfillPlanText.render(.fixture(resumesAfter: 12)) == """
                job person-v2 on app.Person: 1,790 of 100,000 documents need it
                  resumes after 12 chunks of earlier runs
                  convert age to int: 1,789 to change
                    skipped, cannot be converted: 2, such as _id NumberLong("5")
                  default a.b: a value of type string: 1 to change
                    skipped, parent is missing: 29,856, such as _id ObjectId("507f1f77bcf86cd799439011"), 7, "x"
                  makes 1,200 documents unsyncable under the active schema (unsynced documents: 1,292 in the ledger + \
                10 pending, must stay under 90,000)
                  note: irreversible: "age" is converted in place
                """)
    }

    @Test func oneDocumentNeedsIt() {
        #expect(BackfillPlanText.render(.fixture(needing: 1)).contains(": 1 of 100,000 documents needs it\n"))
    }
}
