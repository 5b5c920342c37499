import BSON
import JobReports
import Reporting
import Running
import Testing

@Suite struct BackfillReportJSONTests {
    @Test func theShape() {
        #expect(
            BackfillResult(.dryRun, showsValues: false).json.text == """
                {
                  "schema_version": 1,
                  "tool_version": "0.1.0",
                  "commit": null,
                  "command": "backfill",
                  "job": "person-v2",
                  "database": "app",
                  "collection": "Person",
                  "outcome": "dry_run",
                  "stopped_by": null,
                  "duration_ms": 5840,
                  "documents": 100000,
                  "changed": 1790,
                  "updates": 0,
                  "refreshed": null,
                  "chunks": 20,
                  "earlier_chunks": 0,
                  "unsyncable_before": 18523,
                  "unsyncable_after": 2,
                  "harm": 1200,
                  "headroom": {
                    "ledger": 1292,
                    "ledger_documents": 1292,
                    "pending": 10,
                    "ceiling": 90000,
                    "documents": 88697
                  },
                  "refusal": null,
                  "estimate": null,
                  "failures": [],
                  "steps": [
                    {
                      "step": "convert age to int",
                      "needing_before": 1789,
                      "needing_after": 0,
                      "left_alone": [
                        {
                          "reason": "cannot be converted",
                          "is_finding": true,
                          "documents": 2,
                          "sample_ids": [
                            5
                          ]
                        }
                      ]
                    },
                    {
                      "step": "default a.b: a value of type string",
                      "needing_before": 1,
                      "needing_after": 0,
                      "left_alone": [
                        {
                          "reason": "parent is missing",
                          "is_finding": false,
                          "documents": 29856,
                          "sample_ids": [
                            { "$oid" : "507f1f77bcf86cd799439011" },
                            7,
                            "x",
                            9
                          ]
                        }
                      ]
                    }
                  ],
                  "samples": [
                    {
                      "_id": 1,
                      "before": {
                        "age": "string"
                      },
                      "after": {
                        "age": "int"
                      }
                    },
                    {
                      "_id": "x",
                      "before": {
                        "age": "int"
                      },
                      "after": {
                        "age": "int",
                        "a.b": "string"
                      }
                    }
                  ],
                  "waits": [],
                  "limited_by": null,
                  "notes": [
                    "irreversible: \\"age\\" is converted in place"
                  ],
                  "disagreement": null
                }

                """)
    }

    @Test func valuesOnlyWhenAsked() throws {
        func ages(showsValues: Bool) throws -> [BSONValue?] {
            let report = try BSONDocument(extendedJSON: BackfillResult(.dryRun, showsValues: showsValues).json.text)
            let samples = (report["samples"]?.document?.values ?? []).compactMap(\.document)
            return samples.map { $0["before"]?.document?["age"] }
        }
        #expect(try ages(showsValues: false) == ["string", "int"])
        #expect(try ages(showsValues: true) == ["36", 36])
    }

    @Test(arguments: [
        (BackfillReport.Outcome.done, "done", BSONValue.null), (.nothingToDo, "nothing_to_do", .null),
        (.stopped(.signal), "stopped", "a signal"),
        (.stopped(.timeBudget), "stopped", "the time budget (--max-runtime)"),
    ])
    func eachOutcomeHasItsName(_ outcome: BackfillReport.Outcome, _ name: String, _ stop: BSONValue) throws {
        let json = BackfillResult(.fixture(outcome), showsValues: false).json.text
        let report = try BSONDocument(extendedJSON: json)
        #expect(report["outcome"] == .string(name))
        #expect(report["stopped_by"] == stop)
        #expect(report["unsyncable_before"] == .null)
    }

    @Test func countsThatWereNotRequestedAreNull() throws {
        var report = BackfillReport.fixture(.done)
        (report.madeUnsyncable, report.headroom) = (nil, Headroom(ledger: nil, pending: 0, ceiling: 10))
        let document = try BSONDocument(extendedJSON: BackfillResult(report, showsValues: false).json.text)
        #expect(document["harm"] == .null)
        #expect(document["headroom"]?.document?["ledger"] == .null)
    }
}
