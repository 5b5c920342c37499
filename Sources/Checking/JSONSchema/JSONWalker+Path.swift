import BSON
import Patterns

/// Schemas of names that are paths.
///
/// mongod turns each keyword into an expression of its own over the path: a keyword holds when one of the values
/// satisfies it, and another keyword may be satisfied by another value. Source: `makeRestriction` in mongod 6.0.
extension JSONWalker {
    func path<Sink: FindingSink>(
        _ subject: PathValues, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let node = nodes[index]
        let found = JSONSubject.path(subject).found
        var fits = true
        if node.isStated, !subject.whole.contains(where: { node.accepts.contains(TypeMask($0.type)) }) {
            fits = fail(.typeMismatch, node: index, found, into: &sink)
        }
        var keywords = try scalars(subject, of: view, node: node)
        keywords += try arrays(subject, of: view, node, depth: depth)
        keywords += try objects(subject, of: view, node, depth: depth)
        for (rule, holds) in keywords where !holds { fits = fail(rule, node: index, found, into: &sink) }
        if node.objects >= 0, try !pathDependencies(subject, of: view, node: index, depth: depth, into: &sink) {
            fits = false
        }
        guard node.values >= 0 else { return fits }
        return try values(.path(subject), of: view, node: index, depth: depth, into: &sink) && fits
    }

    /// Whether a keyword holds that restricts values of some types, given whether a value satisfies it.
    func restricted(
        _ types: TypeMask, _ subject: PathValues, _ node: JSONSchemaPlan.Node, _ isSatisfied: Bool
    ) -> Bool {
        if node.isStated, node.isSingle { return node.accepts.isDisjoint(with: types) || isSatisfied }
        return isSatisfied || !subject.whole.contains { types.contains(TypeMask($0.type)) }
    }

    private func scalars(
        _ subject: PathValues, of view: borrowing BSONView, node: JSONSchemaPlan.Node
    ) throws(BSONError) -> [(Rule, Bool)] {
        var result: [(Rule, Bool)] = []
        if node.numbers >= 0 {
            let rule = numberRules[Int(node.numbers)]
            let numbers = subject.traversed.compactMap { view.number($0) }
            let keywords = [
                (Rule.belowMinimum, rule.minimum != nil, numbers.contains { rule.isAtLeastMinimum($0) }),
                (.aboveMaximum, rule.maximum != nil, numbers.contains { rule.isAtMostMaximum($0) }),
                (.notMultipleOf, rule.divisor != nil, numbers.contains { rule.isMultiple($0) }),
            ]
            for (code, isThere, holds) in keywords where isThere {
                result.append((code, restricted(.numbers, subject, node, holds)))
            }
        }
        guard node.strings >= 0 else { return result }
        let rule = stringRules[Int(node.strings)]
        let lengths = subject.traversed.filter { $0.type == .string }.map { Self.length(of: $0, in: view) }
        if rule.minimum > 0 {
            result.append((.tooShort, restricted(.string, subject, node, lengths.contains { $0 >= rule.minimum })))
        }
        if rule.maximum < .max {
            result.append((.tooLong, restricted(.string, subject, node, lengths.contains { $0 <= rule.maximum })))
        }
        guard rule.pattern >= 0 else { return result }
        var matches = false
        for element in subject.traversed where !matches {
            matches = try self.matches(Int(rule.pattern), element, of: view)
        }
        result.append((.patternMismatch, restricted(.string, subject, node, matches)))
        return result
    }

    /// A symbol is matched like a string, and a regular expression is matched by the same one.
    private func matches(
        _ pattern: Int, _ element: BSONElement, of view: borrowing BSONView
    ) throws(BSONError) -> Bool {
        switch element.type {
        case .string, .symbol:
            try matches(pattern, view, at: element.valueOffset + 4, length: element.valueLength - 5)
        case .regex: try view.value(element) == .regex(pattern: patterns[pattern].text, options: "")
        default: false
        }
    }
}
