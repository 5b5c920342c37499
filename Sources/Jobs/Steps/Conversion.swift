import BSON
import Concurrency
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

    /// What a number that stands for a date counts, from 1970 on.
    package enum Unit: String, Sendable, CaseIterable {
        /// Seconds; a fraction of a double or decimal counts milliseconds.
        case seconds
        /// Milliseconds.
        case milliseconds
    }

    package let target: SchemaType
    var unit = Unit.milliseconds
    /// Whether a result is written too that does not convert back to the same value.
    var allowsLoss = false

    package init(target: SchemaType, unit: Unit = .milliseconds, allowsLoss: Bool = false) {
        self.target = target
        self.unit = unit
        self.allowsLoss = allowsLoss
    }

    /// The types that are converted at all; whatever is not here is reported and left alone.
    var sources: [String] {
        switch target {
        case .string: ["int", "long", "double", "decimal", "bool", "date", "objectId"]
        case .int: ["string", "long", "double", "decimal", "bool"] + (unit == .seconds ? ["date"] : [])
        case .long: ["string", "int", "double", "decimal", "bool", "date"]
        case .double: ["string", "int", "long", "decimal", "bool", "date"]
        case .decimal: ["string", "int", "long", "double", "bool", "date"]
        case .bool: ["string", "int", "long", "double", "decimal"]
        // The time of an ObjectId or of a timestamp is a part of it alone.
        case .date: ["string", "int", "long", "double", "decimal"] + (allowsLoss ? ["objectId", "timestamp"] : [])
        case .objectId: ["string"]
        default: []
        }
    }

    /// Of ``sources`` those whose every value has a counterpart, and all of them different ones: nothing has to be tried.
    var always: [String] {
        switch target {
        case .string: ["int", "long", "bool", "objectId"]
        case .long, .double: ["int"]
        case .decimal: ["int", "long"]
        default: []
        }
    }

    /// Whether `value`, which is not of the target's type, has a counterpart, which ``result(_:)`` gives as `result`.
    func converts(_ value: Expression, to result: Expression) -> Expression {
        always.isEmpty ? !result.isMissingOrNull : value.hasType(among: always) || !result.isMissingOrNull
    }

    /// Whether `value` already has the target's type.
    func isDone(_ value: Expression) -> Expression { value.hasType(target.rawValue) }

    /// What the step writes: the converted value, or `null` where that cannot be, or not without loss while loss is not
    /// allowed.
    func result(_ value: Expression) -> Expression { allowsLoss ? attempted(value) : believed(value) }

    /// The converted value, with or without loss, or `null` where it cannot be converted.
    func attempted(_ value: Expression) -> Expression {
        .let(
            ["from": value],
            in: .choose(
                if: .variable("from").hasType(among: sources), then: converted(.variable("from")), else: .null))
    }

    /// The converted value, or `null` where it cannot be converted or not without loss.
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
            ["from": value],
            in: always.isEmpty
                ? tried
                : .choose(if: from.hasType(among: always), then: attempt(from, to: target.rawValue), else: tried))
    }

    private func converted(_ value: Expression) -> Expression {
        switch target {
        case .bool: .choose(if: value.hasType("string"), then: listedBool(value), else: attempt(value, to: "bool"))
        case .date:
            // The server has no way from int to date, but from long; from text it knows errors that onError misses.
            .choose(
                if: value.hasType("string"),
                then: .choose(
                    if: allowsLoss ? looksLikeADate(value) : hasISOPunctuation(value),
                    then: attempt(value, to: "date"), else: .null),
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
                    if: value.hasType("double"), then: text(ofDouble: value), else: attempt(value, to: "string")))
        case .decimal:
            .choose(
                if: value.hasType("double"), then: exact(double: value, as: "decimal"),
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

extension Expression {
    /// The null value: within a conversion, "could not".
    static let null = Expression(["$literal": nil])
}
