import BSON
import Concurrency
package import ServerSchema

/// The conversion of one value to another type, as a `convert` step makes it on the server.
///
/// `$convert` alone is not exact: it converts the string "false" to true, cuts fractions for an int, and keeps only 15
/// digits of a double in a decimal. Unless loss is allowed, a result is accepted only if nothing is lost. For most
/// types, converting it back must give the same type and value.
package struct Conversion: Hashable, Sendable {
    /// The types that a value can be converted to on the server.
    package static let targets: [SchemaType] = [.string, .int, .long, .double, .decimal, .bool, .date, .objectId]

    /// The only texts that are converted to a bool, with the resulting bools.
    package static let boolTexts: KeyValuePairs<String, Bool> = [
        "true": true, "false": false, "1": true, "0": false,
    ]

    /// The unit in which a number counts the time since 1970.
    package enum Unit: String, Sendable, CaseIterable {
        /// The number counts the seconds since 1970; in a double or decimal, the fraction holds the milliseconds.
        case seconds
        /// The number counts the milliseconds since 1970.
        case milliseconds
    }

    package let target: SchemaType
    var unit = Unit.milliseconds
    /// Whether a result is written even if converting it back gives another value.
    var allowsLoss = false
    /// The types, in addition to ``target``, whose values are not converted.
    var kept: [SchemaType] = []
    /// The only types whose values are converted; empty for all ``sources``.
    var only: [String] = []
    /// The formats of the texts that become dates; empty for ISO 8601 alone.
    var formats: [DateFormat] = []
    /// The format of the texts that become numbers; `nil` for plain ones such as `1234.56`.
    var numbers: NumberFormat?

    /// Creates a conversion to `target`; values of the types `kept` are not converted.
    package init(
        target: SchemaType, unit: Unit = .milliseconds, allowsLoss: Bool = false, keeping kept: [SchemaType] = []
    ) {
        self.target = target
        self.unit = unit
        self.allowsLoss = allowsLoss
        self.kept = kept
    }

    /// Returns the conversion that also accepts what is lost.
    var lossy: Conversion {
        var conversion = self
        conversion.allowsLoss = true
        return conversion
    }

    /// The types, other than the target's, whose values can be converted.
    var sources: [String] {
        guard only.isEmpty else { return only }
        return switch target {
        case .string: ["int", "long", "double", "decimal", "bool", "date", "objectId"]
        case .int: ["string", "long", "double", "decimal", "bool"] + (unit == .seconds ? ["date"] : [])
        case .long: ["string", "int", "double", "decimal", "bool", "date"]
        case .double: ["string", "int", "long", "decimal", "bool", "date"]
        case .decimal: ["string", "int", "long", "double", "bool", "date"]
        case .bool: ["string", "int", "long", "double", "decimal"]
        // An ObjectId or a timestamp contains more than its time, and a conversion to a date loses the rest.
        case .date: ["string", "int", "long", "double", "decimal"] + (allowsLoss ? ["objectId", "timestamp"] : [])
        case .objectId: ["string"]
        default: []
        }
    }

    /// The ``sources`` whose values all convert without loss, so that the server need not convert the result back as a
    /// check.
    var always: [String] {
        switch target {
        case .string: ["int", "long", "bool", "objectId"]
        case .long, .double: ["int"]
        case .decimal: ["int", "long"]
        default: []
        }
    }

    /// The types whose values stay as they are: the target's type, and those that the job file names with `keep`.
    var settled: [SchemaType] { [target] + kept }

    /// Returns whether `value`, which does not have the target's type, can be converted.
    ///
    /// `result` must be the result of ``result(_:)`` for the value.
    func converts(_ value: Expression, to result: Expression) -> Expression {
        always.isEmpty ? !result.isMissingOrNull : value.hasType(among: always) || !result.isMissingOrNull
    }

    /// Whether `value` already has the target's type, or a type whose values the job file keeps or does not name.
    func isDone(_ value: Expression) -> Expression {
        only.isEmpty ? value.hasType(among: settled.map(\.rawValue)) : !value.hasType(among: only)
    }

    /// Returns the value that the step writes; `null` if the value cannot be converted.
    ///
    /// A conversion with loss also gives `null`, unless loss is allowed.
    func result(_ value: Expression) -> Expression { allowsLoss ? attempted(value) : believed(value) }

    /// Returns the converted value, with or without loss; `null` if it cannot be converted.
    func attempted(_ value: Expression) -> Expression {
        .let(
            ["from": plain(value)],
            in: .choose(
                if: .variable("from").hasType(among: sources), then: converted(.variable("from")), else: .null))
    }

    /// Returns the converted value; `null` if the value cannot be converted, or only with loss.
    func believed(_ value: Expression) -> Expression {
        let from = Expression.variable("from")
        let tried = Expression.choose(
            if: from.hasType(among: sources),
            then: .let(
                ["to": converted(from)],
                in: .choose(
                    if: .all([!Expression.variable("to").isMissingOrNull, returns(from, .variable("to"))]),
                    then: .variable("to"), else: .null)),
            else: .null)
        return .let(
            ["from": plain(value)],
            in: always.isEmpty
                ? tried
                : .choose(if: from.hasType(among: always), then: attempt(from, to: target.rawValue), else: tried))
    }

    private func converted(_ value: Expression) -> Expression {
        guard readsWithoutZeros else { return plainlyConverted(value) }
        let plain = Expression.variable("plain")
        var result = plainlyConverted(plain)
        if allowsLoss {
            // The server reads a text such as `3.7` or `1e3` as a decimal, but not as an int.
            let number = Expression.choose(
                if: plain.hasType("string"), then: attempt(plain, to: "decimal"), else: .null)
            result = .call("$ifNull", result, attempt(number, to: target.rawValue))
        }
        return .let(["plain": withoutFractionZeros(value)], in: result)
    }

    private func plainlyConverted(_ value: Expression) -> Expression {
        switch target {
        case .bool: .choose(if: value.hasType("string"), then: listedBool(value), else: attempt(value, to: "bool"))
        case .date:
            // The server converts a long to a date, but not an int. A text is tested first, because the conversion of
            // some texts raises errors that `onError` does not catch.
            .choose(
                if: value.hasType("string"), then: formats.isEmpty ? isoDate(value) : date(value, by: formats),
                else: unit == .seconds
                    ? .choose(
                        if: value.hasType("int", "long", "double", "decimal"), then: date(ofSeconds: value),
                        else: attempt(value, to: "date"))
                    : .choose(
                        if: value.hasType("int"), then: attempt(attempt(value, to: "long"), to: "date"),
                        else: attempt(value, to: "date")))
        case .string:
            .choose(
                if: value.hasType("date"), then: isoText(value),
                else: .choose(
                    if: value.hasType("double"), then: text(ofDouble: value),
                    else: sources.contains("symbol")
                        ? .choose(
                            if: value.hasType("symbol"),
                            then: .call("$substrBytes", value, .constant(0), .constant(-1)),
                            else: attempt(value, to: "string")) : attempt(value, to: "string")))
        case .decimal:
            .choose(
                if: value.hasType("double"), then: shortest(exact(double: value, as: "decimal")),
                else: unit == .seconds
                    ? .choose(
                        if: value.hasType("date"), then: seconds(of: value, as: .constant("decimal")),
                        else: attempt(value, to: "decimal")) : attempt(value, to: "decimal"))
        case .int, .long, .double:
            unit == .seconds
                ? .choose(
                    if: value.hasType("date"), then: seconds(of: value, as: .constant(.string(target.rawValue))),
                    else: attempt(value, to: target.rawValue)) : attempt(value, to: target.rawValue)
        default: attempt(value, to: target.rawValue)
        }
    }

    private func listedBool(_ value: Expression) -> Expression {
        Self.boolTexts.reversed().reduce(.null) { rest, entry in
            .choose(
                if: .sameText(value, .constant(.string(entry.key))), then: .constant(.bool(entry.value)), else: rest)
        }
    }

    /// Returns whether converting the result `to` back gives the original value `from`.
    private func returns(_ from: Expression, _ to: Expression) -> Expression {
        switch target {
        case .bool:
            // A text is converted by the list ``boolTexts``; only a number is converted back and compared.
            .any([from.hasType("string"), sameOnReturn(from, to)])
        case .string:
            // The server converts every text to true, so a bool that became a text is not converted back. Nothing is
            // lost, because the texts `true` and `false` differ.
            .any([from.hasType("bool", "symbol"), sameOnReturn(from, to)])
        // A text is read only in a format that gives the same text again.
        case .date:
            .choose(
                if: from.hasType("string"), then: formats.isEmpty ? isAnISOForm(from, of: to) : .constant(true),
                else: sameOnReturn(from, to))
        default: sameOnReturn(from, to)
        }
    }

    private func sameOnReturn(_ from: Expression, _ to: Expression) -> Expression {
        guard readsWithoutZeros else { return plainlySameOnReturn(from, to) }
        return .let(
            ["plain": withoutFractionZeros(from)], in: plainlySameOnReturn(.variable("plain"), to))
    }

    private func plainlySameOnReturn(_ from: Expression, _ to: Expression) -> Expression {
        if unit == .seconds, target == .date { return .sameValue(seconds(of: to, as: from.type), from) }
        let direct =
            unit == .seconds && target.isNumeric
            ? .choose(if: from.hasType("date"), then: date(ofSeconds: to), else: attempt(to, to: from.type))
            : attempt(to, to: from.type)
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
}

/// The removal of zeros at the end of a fraction, such as the last one of `1.50`, before a text is converted to a
/// number.
extension Conversion {
    /// Whether zeros at the end of a fraction, as in the text `1.50`, are removed before the conversion.
    ///
    /// They are removed for every numeric type except decimal, which can hold them.
    private var readsWithoutZeros: Bool { target.isNumeric && target != .decimal }

    /// Returns the text of a number without the zeros at the end of its fraction; returns any other value unchanged.
    ///
    /// The result is `120.4` for `120.40`, and `5` for `5.0`. Leading zeros stay, because `007` is not meant as a
    /// number. Only texts of fewer than 400 bytes are changed, and only if they consist of digits, one point and
    /// perhaps a minus sign.
    private func withoutFractionZeros(_ value: Expression) -> Expression {
        // The text is first tested for its length, and for being a number. The regular expression may fail on a text
        // that is not a number, is not UTF-8, or has megabytes of digits.
        let isNumber = Expression.all([
            .call("$lt", Expression(["$strLenBytes": value.bson]), .constant(400)),
            !attempt(value, to: "decimal").isMissingOrNull,
        ])
        let isFraction = Expression([
            "$regexMatch": ["input": value.bson, "regex": ["$literal": "^-?[0-9]+\\.[0-9]*0$(?!\\n)"]]
        ])
        let trimmed = Expression(["$rtrim": ["input": value.bson, "chars": "0"]])
        return .choose(
            if: .all([value.hasType("string"), isNumber, isFraction]),
            then: Expression(["$rtrim": ["input": trimmed.bson, "chars": "."]]), else: value)
    }
}

/// Conversions of doubles; the server's own conversions would keep only 6 digits in a text and 15 digits in a decimal.
extension Conversion {
    /// Returns the double converted to another type, so that a whole number such as 9007199254740992 keeps all its
    /// digits.
    ///
    /// A whole number is converted to `long` first, because the server's conversion from a double drops digits.
    func exact(double value: Expression, as type: String) -> Expression {
        let long = Expression.variable("long")
        return .let(
            ["long": attempt(value, to: "long")],
            in: .choose(
                if: .sameValue(attempt(long, to: "double"), value), then: attempt(long, to: type),
                else: attempt(value, to: type)))
    }

    /// Returns the double as a text with up to 15 digits, or with all digits of a whole number in the range of `long`.
    ///
    /// The server alone would convert 52.370216 to the text `52.3702`. If that text does not read back as the same
    /// double, the double is converted to a decimal, and the zeros at the end of `52.3702160000000` are removed. A
    /// number whose decimal has an exponent keeps the server's text.
    func text(ofDouble value: Expression) -> Expression {
        let short = Expression.variable("short")
        let long = Expression.variable("digits")
        let isPlain = Expression.call("$indexOfBytes", long, .constant("E")) == .constant(-1)
        let trimmed = Expression(["$rtrim": ["input": long.bson, "chars": "0"]])
        return .let(
            ["short": exact(double: value, as: "string")],
            in: .choose(
                if: .sameValue(attempt(short, to: "double"), value), then: short,
                else: .let(
                    ["digits": attempt(attempt(value, to: "decimal"), to: "string")],
                    in: .choose(if: isPlain, then: trimmed, else: short))))
    }

    /// Returns a decimal without zeros at the end of its fraction, such as 19.99 for the 19.9900000000000 that the
    /// server makes of a double.
    private func shortest(_ decimal: Expression) -> Expression {
        let text = Expression.variable("text")
        func trimmed(_ text: Expression, _ chars: BSONValue) -> Expression {
            Expression(["$rtrim": ["input": text.bson, "chars": chars]])
        }
        let isFraction = Expression.all([
            text.hasType("string"), .call("$gte", .call("$indexOfBytes", text, .constant(".")), .constant(0)),
            .call("$indexOfBytes", text, .constant("E")) == .constant(-1),
        ])
        return .let(
            ["decimal": decimal],
            in: .let(
                ["text": attempt(.variable("decimal"), to: "string")],
                in: .choose(
                    if: isFraction, then: attempt(trimmed(trimmed(text, "0"), "."), to: "decimal"),
                    else: .variable("decimal"))))
    }

    /// Returns the value converted to another type; `null` if the server cannot convert it.
    func attempt(_ value: Expression, to type: String) -> Expression {
        attempt(value, to: .constant(.string(type)))
    }

    /// Returns the value converted to another type; `null` if the server cannot convert it.
    func attempt(_ value: Expression, to type: Expression) -> Expression {
        .call("$convert", ["input": value, "to": type, "onError": .null, "onNull": .null])
    }
}

/// The types between which a `convert` step converts.
extension Conversion {
    /// Returns whether a `convert` step can convert to the type.
    package static func reaches(_ type: SchemaType) -> Bool { type == .uuid || targets.contains(type) }

    /// Returns whether a `convert` step can convert at least some values of the type `from` to the type `to`.
    package static func leads(from: SchemaType, to: SchemaType) -> Bool {
        switch (from, to) {
        case (.uuid, .string), (.string, .uuid), (.binData, .uuid): true
        case (.mixed, _): reaches(to)
        default: from == to || Conversion(target: to).sources.contains(from.rawValue)
        }
    }
}
