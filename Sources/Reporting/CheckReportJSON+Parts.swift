import BSON
import Checking
import ServerSchema

/// Counts by their keys in the JSON of a check's report, which ``CheckReportReader`` reads again.
typealias CountKeys<Counts> = [(key: String, path: any WritableKeyPath<Counts, Int> & Sendable)]

extension VerdictChanges {
    /// The numbers of documents that newly fail, already fail or are fixed.
    static let keys: CountKeys<Self> = [
        ("newly_failing", \.newlyFailing), ("already_failing", \.alreadyFailing), ("healed", \.healed),
        ("newly_possible", \.newlyPossible), ("already_possible", \.alreadyPossible),
        ("possibly_healed", \.possiblyHealed),
    ]

    var json: ReportValue { .object(Self.keys.map { ($0.key, .integer(self[keyPath: $0.path])) }) }
}

extension EngineCounts {
    /// The numbers of documents that halt the engine, are dropped or lose values, and the number of lost values.
    static let keys: CountKeys<Self> = [
        ("halting", \.halting), ("halting_excepted", \.haltingExcepted), ("dropped", \.dropped),
        ("losing_values", \.losing), ("values_lost", \.values),
    ]

    var json: ReportValue { .object(Self.keys.map { ($0.key, .integer(self[keyPath: $0.path])) }) }
}

extension PartOfCheck {
    /// The part of the check (`--part`) that the report covers, with the facts that `check --join` needs.
    var json: ReportValue {
        [
            "number": part.number, "of": part.count, "digest": digest,
            "fails_by": [
                "documents": policy.documents.rawValue, "possible": policy.includesPossible,
                "change": policy.includesChange,
            ] as ReportValue,
        ]
    }
}

extension FailingLimitUse {
    var json: ReportValue {
        [
            "collection": namespace.map { "\($0)" }, "rule": rule?.rawValue, "max_failing": "\(limit)",
            "failing": failing, "documents": judged, "exceeded": isExceeded,
        ]
    }
}

extension JobTrace {
    /// The effects that the jobs in the state database have on a collection, as JSON.
    var json: ReportValue {
        [
            "collection": "\(namespace)", "converted": convertedCount,
            "unfinished": unfinished.map { ["job": $0.job, "state": $0.state] as ReportValue }, "gaps": gaps,
        ]
    }
}

extension ExceptionUse {
    var json: ReportValue {
        [
            "file": file, "matched": matched.map(\.json), "unmatched": unmatched.map(\.json),
            "expired": expired.map(\.json),
        ]
    }
}

extension FindingException {
    var json: ReportValue {
        ["collection": "\(namespace)", "path": path, "rule": rule.rawValue] + acceptance.json
    }
}

extension Acceptance {
    var json: ReportValue {
        [
            "fingerprint": fingerprint?.description, "reason": reason, "owner": owner, "expires": expires,
            "file": location.file, "line": location.line,
        ]
    }
}

extension ViolationGroup {
    func json(ids: IDDisplay, in dialect: Dialect = .appServices) -> ReportValue {
        [
            "rule": violation.rule.rawValue, "vendor_code": violation.rule.rule?.vendorCode(in: dialect),
            "level": "\(violation.level)", "outcome": outcome?.rawValue,
            "path": "\(violation.path)", "expected": violation.expected, "found": violation.found, "documents": count,
            "documents_new": newCount, "sample_ids": ids.json(sampleIDs), "sample_values": sampleValuesJSON(ids),
            "exception": exception?.json, "filter": filter, "filter_is_exact": filterIsExact,
            "filter_documents": provenCount,
            "equal_values": equalKeys.map { keys in
                let largest = keys.largest.map {
                    [
                        "documents": $0.documents, "sample_ids": ids.json($0.ids),
                        "value": ids.sample($0.value, at: violation.path),
                    ] as ReportValue
                }
                return ["values": keys.values, "largest": largest] as ReportValue
            },
        ]
    }

    private func sampleValuesJSON(_ ids: IDDisplay) -> ReportValue {
        let values = sampleValues.map { ids.sample($0, at: violation.path) }
        return (values.contains { $0 != nil } ? values : []).reportValue
    }
}

extension Backlinks {
    /// Returns the numbers of documents that become embedded objects: with no, one and several parent documents.
    func json(ids: IDDisplay) -> ReportValue {
        func objects(_ objects: Objects) -> ReportValue {
            ["documents": objects.count, "sample_ids": ids.json(objects.samples)]
        }
        func places(_ places: [Place]) -> ReportValue {
            .array(places.map { ["collection": "\($0.namespace)", "path": "\($0.path)"] })
        }
        return [
            "collection": "\(target)", "places": places(self.places), "places_not_read": places(unread),
            "without": objects(without), "one": objects(one), "several": objects(several), "embedded_already": embedded,
        ]
    }
}
