import BSON
import LocatedYAML

/// The separators in texts that `convert` reads as numbers, such as those of `1,234.56`.
struct NumberFormat: Hashable, Sendable {
    /// The character between groups of three digits; `nil` if the digits are not grouped.
    let group: Character?
    /// The character before the fraction.
    let point: Character

    /// Reads `format`, which is the number 1234.56 as the texts spell it.
    init(_ node: YAMLNode) throws(JobError) {
        let text = try node.text(of: "\"format\"")
        let formats = [nil, ".", ",", "'", "_", " "].flatMap { group in [".", ","].map { (group, $0) } }
        guard
            let (group, point) = formats.first(where: { group, point in
                group != point && text == "1\(group ?? "")234\(point)56"
            })
        else {
            throw node.error(
                "\"format\" is the number 1234.56 as the texts spell it, such as \"1,234.56\", \"1.234,56\", "
                    + "\"1 234,56\" or \"1234,56\"")
        }
        self.group = group.map(Character.init)
        self.point = Character(point)
    }
}

extension Conversion {
    /// Returns the text of a number with a point before its fraction and without groups, and any value of another type
    /// as it is; `null` for a text that is not spelled as ``numbers`` states.
    ///
    /// Groups have three digits, and the text has all of them or none.
    func plain(_ value: Expression) -> Expression {
        guard let format = numbers else { return value }
        // Programs write a no-break space, wide or narrow, or a thin space where a person writes a space.
        let groups = format.group.map { $0 == " " ? [" ", "\u{A0}", "\u{202F}", "\u{2009}"] : [String($0)] } ?? []
        func replaced(_ old: String, by new: BSONValue, in text: Expression) -> Expression {
            Expression(["$replaceAll": ["input": text.bson, "find": .string(old), "replacement": new]])
        }
        let ungrouped = groups.reduce(value) { replaced($1, by: "", in: $0) }
        let text = Expression.variable("ungrouped")
        let digits = groups.isEmpty ? "[0-9]+" : "([0-9]+|[0-9]{1,3}([\(groups.joined())][0-9]{3})+)"
        let isSpelled = Expression([
            "$regexMatch": [
                "input": value.bson,
                "regex": ["$literal": .string("^[-+]?\(digits)([\(format.point)][0-9]+)?$(?!\\n)")],
            ]
        ])
        // The regular expression may fail on a text that is long or is not UTF-8, so other tests come before it.
        let isShort = Expression.call("$lt", Expression(["$strLenBytes": value.bson]), .constant(400))
        let read = Expression.let(
            ["ungrouped": format.point == "." ? ungrouped : replaced(",", by: ".", in: ungrouped)],
            in: .choose(
                if: .all([!attempt(text, to: "decimal").isMissingOrNull, isSpelled]), then: text, else: .null))
        return .choose(
            if: value.hasType("string"), then: .choose(if: isShort, then: read, else: .null), else: value)
    }
}
