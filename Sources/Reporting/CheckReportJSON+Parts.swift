import BSON
import Checking
import ServerSchema

extension VerdictChanges {
    /// The numbers of documents that newly fail, already fail or are fixed, as JSON.
    var json: ReportValue {
        .object([
            ("newly_failing", .integer(newlyFailing)), ("already_failing", .integer(alreadyFailing)),
            ("healed", .integer(healed)), ("newly_possible", .integer(newlyPossible)),
            ("already_possible", .integer(alreadyPossible)), ("possibly_healed", .integer(possiblyHealed)),
        ])
    }
}

extension PartOfCheck {
    /// The part of the check that a report covers, as JSON, with the facts that `merge` needs to join the reports.
    var json: ReportValue {
        .object([
            ("number", .integer(part.number)), ("of", .integer(part.count)), ("digest", .string(digest)),
            (
                "fails_by",
                .object([
                    ("documents", .string(policy.documents.rawValue)), ("possible", .bool(policy.includesPossible)),
                    ("change", .bool(policy.includesChange)),
                ])
            ),
        ])
    }
}

extension FailingLimitUse {
    /// The limit and the number of failing documents, as JSON.
    var json: ReportValue {
        .object([
            ("collection", namespace.map { .string("\($0)") } ?? .null),
            ("rule", rule.map { .string($0.rawValue) } ?? .null), ("max_failing", .string("\(limit)")),
            ("failing", .integer(failing)), ("documents", .integer(judged)), ("exceeded", .bool(isExceeded)),
        ])
    }
}

extension JobTrace {
    /// The effects of jobs on one collection, as JSON.
    var json: ReportValue {
        .object([
            ("collection", .string("\(namespace)")), ("converted", .integer(convertedCount)),
            (
                "unfinished",
                .array(unfinished.map { .object([("job", .string($0.job)), ("state", .string($0.state))]) })
            ), ("gaps", .array(gaps.map { .string($0) })),
        ])
    }
}

extension ExceptionUse {
    /// The operator's exceptions as JSON: those that matched, matched nothing or have expired.
    var json: ReportValue {
        .object([
            ("file", .string(file)), ("matched", .array(matched.map(\.json))),
            ("unmatched", .array(unmatched.map(\.json))), ("expired", .array(expired.map(\.json))),
        ])
    }
}

extension FindingException {
    /// The operator's exception for a finding, as JSON.
    var json: ReportValue {
        .object([
            ("collection", .string("\(namespace)")), ("path", .string(path)), ("rule", .string(rule.rawValue)),
            ("reason", .string(reason)), ("owner", .string(owner)),
            ("expires", expires.map { .string($0) } ?? .null),
            ("file", .string(location.file)), ("line", .integer(location.line)),
        ])
    }
}

extension ViolationGroup {
    /// Returns the group of documents with the same violation as JSON.
    /// - Parameter ids: How `_id`s are shown.
    func json(ids: IDDisplay, in dialect: Dialect = .appServices) -> ReportValue {
        .object([
            ("rule", .string(violation.rule.rawValue)),
            ("vendor_code", violation.rule.vendorCode(in: dialect).map { .string($0) } ?? .null),
            ("level", .string("\(violation.level)")),
            ("path", .string("\(violation.path)")),
            ("expected", .string(violation.expected)),
            ("found", .string(violation.found)),
            ("documents", .integer(count)),
            ("documents_new", newCount.map { .integer($0) } ?? .null),
            ("sample_ids", ids.json(sampleIDs)),
            ("sample_values", sampleValuesJSON(ids)),
            ("exception", exception?.json ?? .null),
            ("filter", .extended(.object(filter))),
            ("filter_is_exact", .bool(filterIsExact)),
            ("filter_documents", provenCount.map { .integer($0) } ?? .null),
        ])
    }

    private func sampleValuesJSON(_ ids: IDDisplay) -> ReportValue {
        let values = sampleValues.map { SampleValue($0, at: violation.path, ids: ids) }
        return .array(values.contains { $0.text != nil } ? values.map(\.json) : [])
    }
}

extension Backlinks {
    /// Returns as JSON how many documents that become embedded objects have no parent document, one or several.
    /// - Parameter ids: How `_id`s are shown.
    func json(ids: IDDisplay) -> ReportValue {
        func objects(_ objects: Objects) -> ReportValue {
            .object([("documents", .integer(objects.count)), ("sample_ids", ids.json(objects.samples))])
        }
        func places(_ places: [Place]) -> ReportValue {
            .array(
                places.map {
                    .object([("collection", .string("\($0.namespace)")), ("path", .string("\($0.path)"))])
                })
        }
        return .object([
            ("collection", .string("\(target)")), ("places", places(self.places)), ("places_not_read", places(unread)),
            ("without", objects(without)), ("one", objects(one)), ("several", objects(several)),
            ("embedded_already", .integer(embedded)),
        ])
    }
}
