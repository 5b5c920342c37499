import BSON
import LocatedYAML
import Yams

/// Reads a condition that is written as a query filter, such as `{schemaVersion: {$lt: 3}}`.
///
/// The result is an expression that holds for the same documents. As in a query, a list matches if one of its elements
/// does, and `null` matches a missing field. An operator such as `$lt` matches only values of the same type as its
/// bound; all numbers count as one type. `ConditionFilterTests` compares filters and expressions on the server.
enum MatchFilter {
    /// Returns whether a condition is a filter: a mapping with a field's name as a key, or with `$and`, `$or` or `$nor`
    /// and a list that contains such a mapping.
    ///
    /// A filter must be recognized before the condition is read as an expression. Otherwise it would be read as an
    /// object, and as a condition, an object is true for every document.
    static func isFilter(_ node: YAMLNode) -> Bool {
        guard case .mapping(let mapping) = node.node else { return false }
        return mapping.contains { key, value in
            guard let name = key.scalar?.string, name.hasPrefix("$") else { return true }
            guard Joining(rawValue: name) != nil, case .sequence(let list) = value else { return false }
            return list.contains { isFilter(YAMLNode(node: $0, file: node.file)) }
        }
    }

    private enum Joining: String, CaseIterable {
        case and = "$and"
        case or = "$or"
        case nor = "$nor"
    }

    /// Returns an expression that holds for the documents that the filter matches.
    /// - Throws: ``JobError`` with line and column if the filter has an error, or an operator that filters of jobs do
    ///   not support.
    static func expression(_ node: YAMLNode) throws(JobError) -> Expression {
        var parts: [Expression] = []
        for (place, name, value) in try members(of: node) {
            guard name.hasPrefix("$") else {
                parts.append(try condition(try field(name, place), value))
                continue
            }
            guard let joining = Joining(rawValue: name) else {
                throw place.error("a filter cannot use \(name) here: use fields, $and, $or and $nor")
            }
            var operands: [Expression] = []
            for element in try value.elements(of: name) { operands.append(try expression(element)) }
            switch joining {
            case .and: parts.append(.all(operands))
            case .or: parts.append(.any(operands))
            case .nor: parts.append(!.any(operands))
            }
        }
        return parts.isEmpty ? .constant(true) : .all(parts)
    }

    private static func members(of node: YAMLNode) throws(JobError) -> [(YAMLNode, String, YAMLNode)] {
        guard case .mapping(let mapping) = node.node else { throw node.error("a filter must be a mapping") }
        var members: [(YAMLNode, String, YAMLNode)] = []
        for (key, value) in mapping {
            let place = YAMLNode(node: key, file: node.file)
            guard let name = key.scalar?.string else { throw place.error("a filter's key must be a text") }
            members.append((place, name, YAMLNode(node: value, file: node.file)))
        }
        return members
    }

    private static func field(_ name: String, _ place: YAMLNode) throws(JobError) -> FieldPath {
        let path: FieldPath
        do throws(FieldPathError) { path = try FieldPath(name) } catch { throw place.error("\"where\": \(error)") }
        guard !path.leadsIntoElements, path.components.allSatisfy({ Int($0) == nil }) else {
            throw place.error("\"where\": \"\(name)\": a filter looks into lists by itself: name no position in them")
        }
        return path
    }

    private static func condition(_ field: FieldPath, _ node: YAMLNode) throws(JobError) -> Expression {
        guard case .mapping(let mapping) = node.node,
            let first = mapping.keys.first?.scalar?.string, first.hasPrefix("$"),
            !ExpressionLiteral.isWrapper(first)
        else { return matches(field, try equals(node)) }
        var parts: [Expression] = []
        for (place, name, value) in try members(of: node) {
            parts.append(try condition(field, name, value, at: place))
        }
        return .all(parts)
    }

    private static func condition(
        _ field: FieldPath, _ name: String, _ node: YAMLNode, at place: YAMLNode
    ) throws(JobError) -> Expression {
        switch name {
        case "$eq": return matches(field, try equals(node))
        case "$ne": return !matches(field, try equals(node))
        case "$in", "$nin":
            var values: [Expression] = []
            for element in try node.elements(of: name) { values.append(try equals(element)) }
            let isIn = matches(field, .any(values))
            return name == "$in" ? isIn : !isIn
        case "$gt", "$gte", "$lt", "$lte": return matches(field, try compares(name, node))
        case "$exists":
            guard let isThere = JobLiteral.bool(node) else { throw node.error("$exists must be true or false") }
            let found = matches(field, !value.isMissing)
            return isThere ? found : !found
        case "$type":
            let texts = node.node.scalar == nil ? try node.elements(of: name) : [node]
            var aliases: [String] = []
            for text in texts {
                let alias = try text.text(of: name)
                guard alias == "number" || BSONType.all.contains(where: { $0.description == alias }) else {
                    throw text.error("$type must be the name of a BSON type, such as string, int or number")
                }
                aliases += alias == "number" ? numbers : [alias]
            }
            return matches(field, value.hasType(among: aliases))
        case "$not": return !(try condition(field, node))
        default:
            throw place.error(
                "a filter cannot use \(name): it has $eq, $ne, $in, $nin, $gt, $gte, $lt, $lte, $exists, $type and "
                    + "$not; write any other condition as an expression, such as {$gt: [{$size: $tags}, 3]}")
        }
    }

    // MARK: Conditions on a single value

    private static let value = Expression.variable("value.v")
    private static let numbers = ["int", "long", "double", "decimal"]

    private static func equals(_ node: YAMLNode) throws(JobError) -> Expression {
        switch try JobLiteral.value(node) {
        case .null: return value.isMissingOrNull
        case .regex: throw node.error("a filter cannot have patterns: write an expression with $regexMatch")
        case .string(let text) where text.wholeMatch(of: /\/.+\/[imsx]*/) != nil && node.node.scalar?.style == .plain:
            throw node.error(
                "\(text) is no pattern here, but a text: write an expression with $regexMatch, or the text in "
                    + "quotation marks")
        case let constant: return value == .constant(constant)
        }
    }

    private static func compares(_ name: String, _ node: YAMLNode) throws(JobError) -> Expression {
        let bound = try JobLiteral.value(node)
        let types: [String]? =
            switch bound {
            case .int, .long: numbers
            case .double(let number): number.isNaN ? nil : numbers
            case .decimal(let number): number.isNaN ? nil : numbers
            case .string: ["string", "symbol"]
            case .date: ["date"]
            case .objectID: ["objectId"]
            case .bool: ["bool"]
            case .timestamp: ["timestamp"]
            default: nil
            }
        guard let types else {
            throw node.error("\(name) compares with a number, text, date, ObjectId, bool or timestamp")
        }
        // A query's `$lt`, `$lte`, `$gt` and `$gte` with a number do not match NaN.
        let isOrdered = types == numbers ? [!(value == .constant(.double(.nan)))] : []
        return .all([value.hasType(among: types)] + isOrdered + [.call(name, value, .constant(bound))])
    }

    // MARK: The values of a field

    /// Returns whether the condition holds for the field's value or for an element of that value.
    ///
    /// If the path leads through a list, the condition may hold in any of the list's elements.
    private static func matches(_ field: FieldPath, _ condition: Expression) -> Expression {
        let values = values(of: Expression(.string("$\(field.components[0])")), field.components.dropFirst(), depth: 0)
        return .call("$anyElementTrue", mapped(values, as: "value", to: condition))
    }

    /// Returns a list of the values that a query on the field would compare; each value is in the field `v` of an
    /// object.
    ///
    /// For a missing value, the object is empty.
    private static func values(of place: Expression, _ rest: ArraySlice<String>, depth: Int) -> Expression {
        let (here, name) = (Expression.variable("here\(depth)"), "element\(depth)")
        let elements = Expression.choose(if: here.hasType("array"), then: here, else: Expression(.array(of: [])))
        let found: Expression
        if let next = rest.first {
            let inner = { (object: Expression) in
                values(of: Expression(.string("\(object.bson.text ?? "").\(next)")), rest.dropFirst(), depth: depth + 1)
            }
            let element = Expression.variable(name)
            let ofElements = mapped(
                elements, as: name,
                to: .choose(if: element.hasType("object"), then: inner(element), else: Expression(.array(of: []))))
            let joined = Expression([
                "$reduce": [
                    "input": ofElements.bson, "initialValue": .array(of: []),
                    "in": ["$concatArrays": ["$$value", "$$this"]],
                ]
            ])
            found = .choose(if: here.hasType("array"), then: joined, else: inner(here))
        } else {
            let ofElements = mapped(elements, as: name, to: Expression(["v": Expression.variable(name).bson]))
            found = .call("$concatArrays", Expression(.array(of: [["v": here.bson]])), ofElements)
        }
        return .let(["here\(depth)": place], in: found)
    }

    private static func mapped(_ list: Expression, as name: String, to value: Expression) -> Expression {
        .call("$map", ["input": list, "as": Expression(.string(name)), "in": value])
    }
}
