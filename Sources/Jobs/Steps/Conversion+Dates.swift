import BSON

/// Conversions of dates to and from texts and numbers.
extension Conversion {
    /// Returns whether `text` states exactly `date`, in UTC and in one of three formats: with milliseconds, with
    /// seconds, or only the day.
    ///
    /// The server's parser also accepts other formats, but a document with a text in another format is skipped and
    /// reported.
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

    /// Whether a text has the length and the punctuation of one of the ISO formats.
    ///
    /// A text is tested before its conversion, because `onError` does not catch every error. Some texts would make the
    /// whole update fail, such as a text of megabytes. Another example is "@" followed by 16 digits, which the server
    /// reads as a time that no date can hold.
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

    /// Returns the date of a text in an ISO format; `null` for any other text.
    func isoDate(_ text: Expression) -> Expression {
        .choose(
            if: allowsLoss ? looksLikeADate(text) : hasISOPunctuation(text), then: attempt(text, to: "date"),
            else: .null)
    }

    /// Returns the date as a text in ISO format with milliseconds; `null` outside of the years 0 to 9999.
    ///
    /// Outside of these years, the server's own conversion fails with an error that `onError` does not catch.
    func isoText(_ date: Expression) -> Expression {
        .choose(
            if: .call("$gte", date, .constant(.date(milliseconds: -62_167_219_200_000)))
                && .call("$lt", date, .constant(.date(milliseconds: 253_402_300_800_000))),
            then: attempt(date, to: "string"), else: .null)
    }

    /// Whether a text has the format of a date, or of a date with a time, in ISO 8601.
    ///
    /// The text may have a space in place of the `T`, and any offset from UTC or none.
    func looksLikeADate(_ text: Expression) -> Expression {
        let time = "[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
        return Expression([
            "$regexMatch": [
                "input": text.bson, "regex": ["$literal": .string("^[0-9]{4}-[0-9]{2}-[0-9]{2}(\(time))?$(?!\\n)")],
            ]
        ])
    }

    /// Returns the date that is `value` seconds after 1970; `null` if no date can represent it.
    func date(ofSeconds value: Expression) -> Expression {
        let product = Expression.call("$multiply", value, .constant(.long(1_000)))
        // A date holds its milliseconds as a `long`. For a double beyond that range the result is `null`, because
        // server 4.4 fails when it multiplies such a double.
        let rounded = Expression.choose(
            if: .call("$lt", Expression(["$abs": [value.bson]]), .constant(.double(9.3e15))),
            then: Expression(["$round": [product.bson]]), else: .null)
        let whole = Expression.choose(if: value.hasType("double"), then: rounded, else: product)
        return attempt(attempt(whole, to: "long"), to: "date")
    }

    /// Returns the number of seconds from 1970 to a date, in the given type; `null` if the server cannot convert it.
    func seconds(of date: Expression, as type: Expression) -> Expression {
        let milliseconds = attempt(date, to: "long")
        let exact = Expression.call("$divide", attempt(date, to: "decimal"), .constant(.long(1_000)))
        return .choose(
            if: type == .constant("double"),
            then: .call("$divide", milliseconds, .constant(.long(1_000))), else: attempt(exact, to: type))
    }
}
