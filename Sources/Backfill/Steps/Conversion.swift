import BSON
package import ServerSchema

/// What `convert` does to one value, on the server.
///
/// `$convert` alone is not trusted: the string "false" becomes true, `$toInt` cuts a fraction, `$toDecimal` rounds to 15
/// digits. A result is believed only where converting it back gives the same type and exactly the same value.
package struct Conversion: Hashable, Sendable {
    /// The types that a value can be converted to.
    package static let targets: [SchemaType] = [.string, .int, .long, .double, .decimal, .bool, .date, .objectId]

    /// The texts that mean a bool; no other text is converted to one.
    package static let boolTexts: KeyValuePairs<String, Bool> = [
        "true": true, "false": false, "1": true, "0": false,
    ]

    let target: SchemaType

    /// The types that are converted at all; whatever is not here is reported and left alone.
    var sources: [String] {
        switch target {
        case .string: ["int", "long", "double", "decimal", "bool", "date", "objectId"]
        case .int: ["string", "long", "double", "decimal", "bool"]
        case .long: ["string", "int", "double", "decimal", "bool", "date"]
        case .double: ["string", "int", "long", "decimal", "bool", "date"]
        case .decimal: ["string", "int", "long", "double", "bool", "date"]
        case .bool: ["string", "int", "long", "double", "decimal"]
        case .date: ["string", "int", "long", "double", "decimal"]
        case .objectId: ["string"]
        default: []
        }
    }

    /// Whether `value` already has the target's type.
    func isDone(_ value: Expression) -> Expression { value.hasType(target.rawValue) }

    /// The converted value, or `null` where it cannot be converted or not without loss.
    func believed(_ value: Expression) -> Expression {
        .let(
            ["from": value],
            in: .choose(
                if: .variable("from").hasType(among: sources),
                then: .let(
                    ["to": converted(.variable("from"))],
                    in: .choose(
                        if: .all([
                            !Expression.variable("to").isMissingOrNull, returns(.variable("from"), .variable("to")),
                        ]),
                        then: .variable("to"), else: .null)),
                else: .null))
    }

    private func converted(_ value: Expression) -> Expression {
        switch target {
        case .bool: .choose(if: value.hasType("string"), then: listedBool(value), else: attempt(value, to: "bool"))
        case .date:
            // The server has no way from int to date, but from long; from text it knows errors that onError misses.
            .choose(
                if: value.hasType("string"),
                then: .choose(if: hasISOPunctuation(value), then: attempt(value, to: "date"), else: .null),
                else: .choose(
                    if: value.hasType("int"), then: attempt(attempt(value, to: "long"), to: "date"),
                    else: attempt(value, to: "date")))
        case .string:
            .choose(
                if: value.hasType("date"), then: isoText(value),
                else: .choose(
                    if: value.hasType("double"), then: text(ofDouble: value), else: attempt(value, to: "string")))
        case .decimal:
            .choose(
                if: value.hasType("double"), then: exact(double: value, as: "decimal"),
                else: attempt(value, to: "decimal"))
        default: attempt(value, to: target.rawValue)
        }
    }

    private func listedBool(_ value: Expression) -> Expression {
        Self.boolTexts.reversed().reduce(.null) { rest, entry in
            .choose(
                if: .sameText(value, .constant(.string(entry.key))), then: .constant(.bool(entry.value)), else: rest)
        }
    }

    /// Whether the way back from `to` gives `from`.
    private func returns(_ from: Expression, _ to: Expression) -> Expression {
        switch target {
        case .bool:
            // A listed text names one value of its own; only numbers have a way back to compare.
            .any([from.hasType("string"), sameOnReturn(from, to)])
        case .string:
            // To the server every text is true: but the texts of the two bools differ, so that none is lost.
            .any([from.hasType("bool"), sameOnReturn(from, to)])
        case .date: .choose(if: from.hasType("string"), then: isAnISOForm(from, of: to), else: sameOnReturn(from, to))
        default: sameOnReturn(from, to)
        }
    }

    private func sameOnReturn(_ from: Expression, _ to: Expression) -> Expression {
        let direct = attempt(to, to: from.type)
        let back: Expression =
            switch target {
            case .date:
                .choose(if: from.hasType("int"), then: attempt(attempt(to, to: "long"), to: "int"), else: direct)
            case .double:
                .choose(
                    if: from.hasType("string"), then: text(ofDouble: to),
                    else: .choose(if: from.hasType("decimal"), then: exact(double: to, as: "decimal"), else: direct))
            default: direct
            }
        return .sameValue(back, from)
    }

    /// Whether a text is one of the three forms that name one instant in UTC: with milliseconds, with seconds, or as a
    /// day.
    ///
    /// Everything else that the server's lenient parser takes is reported.
    private func isAnISOForm(_ text: Expression, of date: Expression) -> Expression {
        let iso = Expression.variable("iso")
        func head(_ count: Int32) -> Expression { .call("$substrBytes", iso, .constant(0), .constant(.int(count))) }
        func tail(_ start: Int32) -> Expression { .call("$substrBytes", iso, .constant(.int(start)), .constant(24)) }
        return .let(
            ["iso": isoText(date)],
            in: .all([
                iso.hasType("string"),
                .any([
                    .sameText(text, iso),
                    .all([
                        tail(19) == .constant(".000Z"), .sameText(text, .call("$concat", head(19), .constant("Z"))),
                    ]),
                    .all([tail(10) == .constant("T00:00:00.000Z"), .sameText(text, head(10))]),
                ]),
            ]))
    }

    /// Whether a text has the length of an ISO form and its punctuation.
    ///
    /// `onError` catches failed conversions alone. A text that names an instant beyond all dates ("@" and 16 digits),
    /// or one of megabytes, would end the whole update.
    private func hasISOPunctuation(_ text: Expression) -> Expression {
        let length = Expression(["$strLenBytes": text.bson])
        func has(_ mark: BSONValue, at index: Int32) -> Expression {
            let found = Expression.call(
                "$indexOfBytes", text, .constant(mark), .constant(.int(index)), .constant(.int(index + 1)))
            return found == .constant(.int(index))
        }
        return .all([
            .call("$in", length, Expression([10, 20, 24])), has("-", at: 4), has("-", at: 7),
            .any([
                length == .constant(10),
                .all([has("T", at: 10), has(":", at: 13), has(":", at: 16), has("Z", at: 19) || has("Z", at: 23)]),
            ]),
        ])
    }

    /// The date in ISO form with milliseconds; `null` outside of the years 0 to 9999, where the server's own way fails
    /// with an error that `onError` does not catch.
    private func isoText(_ date: Expression) -> Expression {
        .choose(
            if: .call("$gte", date, .constant(.date(milliseconds: -62_167_219_200_000)))
                && .call("$lt", date, .constant(.date(milliseconds: 253_402_300_800_000))),
            then: attempt(date, to: "string"), else: .null)
    }
}

extension Expression {
    /// The null value: within a conversion, "could not".
    static let null = Expression(["$literal": nil])
}
