import BSON

/// Dates as texts and as numbers.
extension Conversion {
    /// Whether a text is one of the three forms that name one instant in UTC: with milliseconds, with seconds, or as a
    /// day.
    ///
    /// Everything else that the server's lenient parser takes is reported.
    func isAnISOForm(_ text: Expression, of date: Expression) -> Expression {
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
    func hasISOPunctuation(_ text: Expression) -> Expression {
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
    func isoText(_ date: Expression) -> Expression {
        .choose(
            if: .call("$gte", date, .constant(.date(milliseconds: -62_167_219_200_000)))
                && .call("$lt", date, .constant(.date(milliseconds: 253_402_300_800_000))),
            then: attempt(date, to: "string"), else: .null)
    }

    /// Whether a text names an instant in one of the forms of ISO 8601, with any offset from UTC.
    func looksLikeADate(_ text: Expression) -> Expression {
        let time = "[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,3})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
        return Expression([
            "$regexMatch": [
                "input": text.bson, "regex": ["$literal": .string("^[0-9]{4}-[0-9]{2}-[0-9]{2}(\(time))?$(?!\\n)")],
            ]
        ])
    }

    /// The date that is so many seconds after 1970; `null` where there is none.
    func date(ofSeconds value: Expression) -> Expression {
        let product = Expression.call("$multiply", value, .constant(.long(1_000)))
        let whole = Expression.choose(
            if: value.hasType("double"), then: Expression(["$round": [product.bson]]), else: product)
        return attempt(attempt(whole, to: "long"), to: "date")
    }

    /// The seconds of a date since 1970 in another type; `null` where there are none.
    func seconds(of date: Expression, as type: Expression) -> Expression {
        let milliseconds = attempt(date, to: "long")
        let exact = Expression.call("$divide", attempt(date, to: "decimal"), .constant(.long(1_000)))
        return .choose(
            if: type == .constant("double"),
            then: .call("$divide", milliseconds, .constant(.long(1_000))), else: attempt(exact, to: type))
    }
}
