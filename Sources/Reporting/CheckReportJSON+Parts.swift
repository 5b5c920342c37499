import Checking
import ServerSchema

extension VerdictChanges {
    /// For machines.
    var json: ReportValue {
        .object([
            ("newly_failing", .integer(newlyFailing)), ("already_failing", .integer(alreadyFailing)),
            ("healed", .integer(healed)), ("newly_possible", .integer(newlyPossible)),
            ("already_possible", .integer(alreadyPossible)), ("possibly_healed", .integer(possiblyHealed)),
        ])
    }
}

extension ExceptionUse {
    /// For machines.
    var json: ReportValue {
        .object([
            ("file", .string(file)), ("matched", .array(matched.map(\.json))),
            ("unmatched", .array(unmatched.map(\.json))), ("expired", .array(expired.map(\.json))),
        ])
    }
}

extension FindingException {
    /// For machines.
    var json: ReportValue {
        .object([
            ("collection", .string("\(namespace)")), ("path", .string(path)), ("rule", .string(rule.rawValue)),
            ("reason", .string(reason)), ("owner", .string(owner)),
            ("expires", expires.map { .string($0) } ?? .null),
            ("file", .string(location.file)), ("line", .integer(location.line)),
        ])
    }
}
