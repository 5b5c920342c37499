import BSON
import Foundation
import LocatedYAML
import Yams

/// A format of texts that `convert` reads as dates.
enum DateFormat: Hashable, Sendable {
    /// ISO 8601 in UTC.
    case iso
    /// A whole number of seconds or milliseconds since 1970.
    case epoch
    /// A pattern of `$dateFromString`, such as `%d.%m.%Y`, with the time zone of texts that state none.
    case pattern(String, zone: String?)
}

extension DateFormat {
    /// The letters that patterns of `$dateFromString` have after a percent sign, on each server from 4.4 on.
    private static let letters = "dGHLmMSuVYzZ%"

    /// Reads `format`, one or several, and `zone`.
    static func all(_ format: YAMLNode?, zone: YAMLNode?) throws(JobError) -> [DateFormat] {
        var name: String?
        if let zone {
            let text = try zone.text(of: "\"zone\"")
            guard format != nil else { throw zone.error("\"zone\" needs \"format\"") }
            guard TimeZone(place: text) != nil else { throw zone.error(TimeZone.unknown(text)) }
            name = text
        }
        guard let format else { return [] }
        var formats: [DateFormat] = []
        for node in format.node.scalar == nil ? try format.elements(of: "\"format\"") : [format] {
            switch try node.text(of: "\"format\"") {
            case "iso": formats.append(.iso)
            case "epoch": formats.append(.epoch)
            case let pattern:
                try check(pattern, at: node)
                formats.append(.pattern(pattern, zone: statesZone(pattern) ? nil : name))
            }
        }
        return formats
    }

    private static func check(_ pattern: String, at node: YAMLNode) throws(JobError) {
        var rest = Substring(pattern)
        guard rest.contains("%") else {
            throw node.error("\"format\" is iso, epoch, or a pattern such as \"%d.%m.%Y\"")
        }
        while let sign = rest.firstIndex(of: "%") {
            let letter = rest[rest.index(after: sign)...].first
            guard let letter, letters.contains(letter) else {
                throw node.error(
                    "\"format\" has %\(letter.map(String.init) ?? ""): the server reads "
                        + letters.map { "%\($0)" }.joined(separator: " ")
                        + "; the name of a month needs an \"expression\"")
            }
            rest = rest[rest.index(sign, offsetBy: 2)...]
        }
    }

    private static func statesZone(_ pattern: String) -> Bool { pattern.contains("%z") || pattern.contains("%Z") }
}

extension Conversion {
    /// Returns the date that a text has in the first format that gives the same text again; `null` if there is none.
    ///
    /// If loss is allowed, and no format gives the same text again, the first format that reads the text counts.
    func date(_ text: Expression, by formats: [DateFormat]) -> Expression {
        let exact = formats.reversed().reduce(Expression.null) { rest, format in
            .let(
                ["date": read(text, as: format)],
                in: .choose(
                    if: .all([!Expression.variable("date").isMissingOrNull, gives(text, .variable("date"), format)]),
                    then: .variable("date"), else: rest))
        }
        guard allowsLoss else { return exact }
        let near = formats.reversed().reduce(Expression.null) { rest, format in
            .call("$ifNull", read(text, as: format), rest)
        }
        // The server reads `19` as the year 19, which a text of two digits hardly means.
        let start = Expression.constant(.date(milliseconds: -30_610_224_000_000))
        return .let(
            ["near": .call("$ifNull", exact, near), "exact": exact],
            in: .choose(
                if: .any([!Expression.variable("exact").isMissingOrNull, .call("$gte", .variable("near"), start)]),
                then: .variable("near"), else: .null))
    }

    private func read(_ text: Expression, as format: DateFormat) -> Expression {
        switch format {
        case .iso: return isoDate(text)
        case .epoch:
            let number = attempt(text, to: "long")
            return unit == .seconds
                ? .let(["number": number], in: date(ofSeconds: .variable("number"))) : attempt(number, to: "date")
        case .pattern(let pattern, let zone):
            var operands: [(String, BSONValue)] = [
                ("dateString", text.bson), ("format", ["$literal": .string(pattern)]),
            ]
            if let zone { operands.append(("timezone", .string(zone))) }
            operands += [("onError", .null), ("onNull", .null)]
            // A long text is not read, because the server would quote it in an error for each document.
            return .choose(
                if: .call("$lt", Expression(["$strLenBytes": text.bson]), .constant(100)),
                then: Expression(["$dateFromString": .object(BSONDocument(operands))]), else: .null)
        }
    }

    private func gives(_ text: Expression, _ date: Expression, _ format: DateFormat) -> Expression {
        switch format {
        case .iso: return isAnISOForm(text, of: date)
        case .epoch:
            let number = unit == .seconds ? seconds(of: date, as: .constant("long")) : attempt(date, to: "long")
            return .let(
                ["again": attempt(number, to: "string")],
                in: .all([Expression.variable("again").hasType("string"), .sameText(text, .variable("again"))]))
        case .pattern(let pattern, let zone):
            var operands: [(String, BSONValue)] = [("date", date.bson), ("format", ["$literal": .string(pattern)])]
            if let zone { operands.append(("timezone", .string(zone))) }
            // The server writes no date outside of the years 0 to 9999; a day is left for the offset of a time zone.
            let isWritten = Expression.all([
                .call("$gte", date, .constant(.date(milliseconds: -62_167_132_800_000))),
                .call("$lt", date, .constant(.date(milliseconds: 253_402_214_400_000))),
            ])
            let isSame = Expression.sameText(text, Expression(["$dateToString": .object(BSONDocument(operands))]))
            guard zone != nil, pattern.contains("%H") else { return .all([isWritten, isSame]) }
            return .all([isWritten, isSame, !isRepeated(text, date, operands, showsMinutes: pattern.contains("%M"))])
        }
    }

    /// Returns whether the clocks of the time zone show the same text an hour, or half an hour, before or after the
    /// date.
    private func isRepeated(
        _ text: Expression, _ date: Expression, _ operands: [(String, BSONValue)], showsMinutes: Bool
    ) -> Expression {
        // Clocks are set back by an hour, and on Lord Howe Island by half of one.
        let shifts: [Int64] = [3_600_000] + (showsMinutes ? [1_800_000] : [])
        return .any(
            shifts.flatMap { [-$0, $0] }.map { shift in
                let other = Expression.call("$add", date, .constant(.long(shift)))
                let all = operands.map { ($0.0, $0.0 == "date" ? other.bson : $0.1) }
                return .sameText(text, Expression(["$dateToString": .object(BSONDocument(all))]))
            })
    }
}
