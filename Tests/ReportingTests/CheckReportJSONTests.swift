import BSON
import Checking
import Reporting
import Testing

@Suite struct CheckReportJSONTests {
    @Test func theShape() throws {
        #expect(
            try CheckReportJSON(.fixture()).text == """
                {
                  "schema_version": 1,
                  "tool_version": "0.1.0",
                  "commit": null,
                  "command": "check",
                  "dialect": "appservices",
                  "engine": null,
                  "has_schema": true,
                  "source": "mongodb://localhost",
                  "active": null,
                  "part": null,
                  "duration_ms": 12345,
                  "collections": [
                    {
                      "database": "app",
                      "collection": "Person",
                      "sync": "synced",
                      "in_verdict": true,
                      "partner": null,
                      "documents_read": 200000,
                      "documents_estimated": 200010,
                      "in_active": null,
                      "failing": {
                        "certain": 1023,
                        "certain_new": 1000,
                        "certain_in_ledger": 23,
                        "possible": 5,
                        "possible_new": 5,
                        "possible_in_ledger": 0,
                        "excepted": 0,
                        "unfound": 0,
                        "newly_unfound": 0,
                        "refused": 0,
                        "newly_refused": 0,
                        "unincluded": 0,
                        "newly_unincluded": 0,
                        "unexcepted": {
                          "certain": 1023,
                          "possible": 5,
                          "newly_failing": 0,
                          "newly_possible": 0
                        }
                      },
                      "changes": null,
                      "engine_counts": null,
                      "reading": {
                        "database": "app",
                        "collection": "Person",
                        "cluster_time": null,
                        "documents_changed": 0,
                        "selection": {
                          "kind": "everything"
                        },
                        "documents_passed_over": null,
                        "documents_counted": null,
                        "missing_guarantees": []
                      },
                      "server_verdicts": null,
                      "groups": [
                        {
                          "rule": "required-missing",
                          "vendor_code": "required",
                          "level": "certain",
                          "outcome": null,
                          "path": "email",
                          "expected": "string",
                          "found": "missing",
                          "documents": 1023,
                          "documents_new": null,
                          "sample_ids": [
                            { "$oid" : "507f1f77bcf86cd799439011" },
                            7,
                            "a\\"b"
                          ],
                          "sample_values": [],
                          "exception": null,
                          "filter": { "email" : { "$exists" : false } },
                          "filter_is_exact": true,
                          "filter_documents": null,
                          "equal_values": null
                        },
                        {
                          "rule": "binary-subtype",
                          "vendor_code": "invalid_type",
                          "level": "possible",
                          "outcome": null,
                          "path": "blobs[]",
                          "expected": "binData of subtype 0",
                          "found": "binData of subtype 5, not 16 bytes",
                          "documents": 5,
                          "documents_new": null,
                          "sample_ids": [
                            1099511627776
                          ],
                          "sample_values": [],
                          "exception": null,
                          "filter": { "$expr" : { "$ne" : [ "$n", { "$numberDouble" : "NaN" } ] } },
                          "filter_is_exact": false,
                          "filter_documents": null,
                          "equal_values": null
                        }
                      ],
                      "findings_not_grouped": 2,
                      "keywords_not_judged": []
                    },
                    {
                      "database": "app",
                      "collection": "Pet",
                      "sync": "synced",
                      "in_verdict": true,
                      "partner": null,
                      "documents_read": 1500,
                      "documents_estimated": null,
                      "in_active": null,
                      "failing": {
                        "certain": 0,
                        "certain_new": 0,
                        "certain_in_ledger": 0,
                        "possible": 0,
                        "possible_new": 0,
                        "possible_in_ledger": 0,
                        "excepted": 0,
                        "unfound": 0,
                        "newly_unfound": 0,
                        "refused": 0,
                        "newly_refused": 0,
                        "unincluded": 0,
                        "newly_unincluded": 0,
                        "unexcepted": {
                          "certain": 0,
                          "possible": 0,
                          "newly_failing": 0,
                          "newly_possible": 0
                        }
                      },
                      "changes": null,
                      "engine_counts": null,
                      "reading": {
                        "database": "app",
                        "collection": "Pet",
                        "cluster_time": null,
                        "documents_changed": 0,
                        "selection": {
                          "kind": "everything"
                        },
                        "documents_passed_over": null,
                        "documents_counted": null,
                        "missing_guarantees": []
                      },
                      "server_verdicts": null,
                      "groups": [],
                      "findings_not_grouped": 0,
                      "keywords_not_judged": []
                    }
                  ],
                  "removed_collections": [],
                  "exceptions": null,
                  "limits": [],
                  "history": null,
                  "anomalies": [],
                  "notes": [
                    "majority reads are not available"
                  ],
                  "verdict": {
                    "safe": false,
                    "parts": {
                      "documents": {
                        "severity": "harmful",
                        "sentence": "1,000 documents would stop syncing.",
                        "reasons": [],
                        "stopping": 1000,
                        "possibly_stopping": 0,
                        "removed_collections": [],
                        "jobs": [],
                        "converted_by_jobs": 0,
                        "unfinished_jobs": [],
                        "absent_collections": []
                      },
                      "limit": {
                        "severity": "harmful",
                        "sentence": "Sync itself will stop: the limit of 100,000 is reached.",
                        "reasons": [],
                        "has_stopped": false,
                        "will_stop": true
                      },
                      "change": {
                        "severity": "unknown",
                        "sentence": "To compare with the schema in use, add --active.",
                        "reasons": [],
                        "old": null,
                        "new": null,
                        "worst": null,
                        "server": null,
                        "client": null,
                        "changes": null,
                        "breaking": null,
                        "unaccepted": null,
                        "served": null,
                        "consequences": [],
                        "development_mode": false,
                        "backlinks": []
                      }
                    },
                    "sync_state": null,
                    "band": "sync_will_stop",
                    "ledger": 99000,
                    "ledger_entries": 99000,
                    "newly_failing": null,
                    "certain_new": 1000,
                    "possible_new": 5,
                    "possible_counted": 0,
                    "projected": 100000,
                    "pessimistic": 100005,
                    "headroom": 999,
                    "limit": 100000
                  }
                }

                """)
    }

    @Test func theTextIsJSON() throws {
        let document = try BSONDocument(extendedJSON: CheckReportJSON(.fixture()).text)
        #expect(document["schema_version"]?.integer == 1)
        #expect(document["verdict"]?.document?["band"] == "sync_will_stop")
        let collection = try #require(document["collections"]?.document?.values.first?.document)
        let group = try #require(collection["groups"]?.document?.values.first?.document)
        #expect(group["filter"] == ["email": ["$exists": false]])
    }

    @Test func noLedgerIsNull() throws {
        let document = try BSONDocument(extendedJSON: CheckReportJSON(.fixture(ledgerCount: nil)).text)
        #expect(document["verdict"]?.document?["ledger"] == .null)
    }
}
