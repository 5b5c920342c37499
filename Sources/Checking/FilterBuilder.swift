import BSON
import ServerSchema

/// Builders of aggregation expressions, as BSON values.
///
/// Filters use these and never the match language, whose `null`, `$exists` and `$type` look into arrays.
enum Expression {
    static func type(_ value: BSONValue, is name: String) -> BSONValue { ["$eq": [["$type": value], .string(name)]] }
    static func isArray(_ value: BSONValue) -> BSONValue { ["$isArray": [value]] }
    static func not(_ value: BSONValue) -> BSONValue { ["$not": [value]] }
    static func and(_ values: [BSONValue]) -> BSONValue {
        values.count == 1 ? values[0] : ["$and": .array(of: values)]
    }

    /// Returns `then` where the condition holds, else false; `then` is not evaluated where it would be an error.
    static func guarded(_ condition: BSONValue, _ then: BSONValue) -> BSONValue {
        ["$cond": [condition, then, false]]
    }

    /// Returns whether the expression holds for at least one element of the array.
    static func any(of array: BSONValue, as name: String, _ holds: BSONValue) -> BSONValue {
        ["$anyElementTrue": [["$map": ["input": array, "as": .string(name), "in": holds]]]]
    }

    /// Returns a field of `parent`, a path of field and variable names; `nil` stands for the document itself.
    ///
    /// A name that a path cannot spell is searched for among the object's names, because `$getField`, which could read
    /// it, exists only from MongoDB 5.0 on.
    static func field(_ name: String, of parent: BSONValue?) -> BSONValue {
        let isPlain = !name.isEmpty && !name.utf8.contains { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: ".") }
        switch parent {
        case nil where isPlain: return .string("$" + name)
        case .string(let path)? where isPlain: return .string("\(path).\(name)")
        case let parent? where isPlain: return ["$let": ["vars": ["o": parent], "in": .string("$$o.\(name)")]]
        case let parent:
            let names: BSONValue = ["$objectToArray": parent ?? "$$ROOT"]
            let found: BSONValue = ["$filter": ["input": names, "as": "f", "cond": isText("$$f.k", name)]]
            return ["$let": ["vars": ["f": ["$arrayElemAt": [found, 0]]], "in": "$$f.v"]]
        }
    }

    /// Returns whether a string is byte for byte the text, whatever the collection's collation.
    private static func isText(_ value: BSONValue, _ text: String) -> BSONValue {
        and([
            ["$eq": [["$strLenBytes": value], .integer(text.utf8.count)]],
            ["$eq": [["$indexOfBytes": [value, ["$literal": .string(text)]]], 0]],
        ])
    }
}

/// Builds the filter that finds the documents of a group.
struct FilterBuilder {
    let schema: CompiledSchema

    /// The most steps that a filter follows; a mixed value's path may be longer than the server's limit of nesting.
    private static var maximumSteps: Int { 16 }

    /// Returns the filter, and whether it matches only the documents of the group.
    func filter(for located: FindingCollector.Located) -> (document: BSONDocument, isExact: Bool) {
        if let plan = schema.jsonSchema { return SchemaSlice(plan: plan).filter(for: located) }
        if let plan = schema.constraints, let located = schema.constraint(located) {
            return SchemaSlice(plan: plan).filter(for: located)
        }
        let finding = located.finding
        let condition = ValueCondition(finding, in: schema)
        let steps = schema.path(of: located).steps
        let isWhole = steps.count <= Self.maximumSteps
        let expression = expression(steps.prefix(Self.maximumSteps), of: nil, depth: 1) { value in
            isWhole ? condition.holds(for: value) : ["$in": [["$type": value], ["array", "object"]]]
        }
        let isInTuple = schema.nodes[Int(finding.node)].flags.contains(.inTuple)
        return (["$expr": expression], condition.isExact && isWhole && !isInTuple)
    }

    /// Follows the steps from a value; each step is taken only if the value is of the type that the step needs.
    private func expression(
        _ steps: ArraySlice<SchemaPath.Step>, of value: BSONValue?, depth: Int, _ condition: (BSONValue) -> BSONValue
    ) -> BSONValue {
        guard let step = steps.first else { return condition(value ?? "$$ROOT") }
        let rest = steps.dropFirst()
        let name = "e\(depth)"
        switch step {
        case .field(let field):
            let child = Expression.field(field, of: value)
            let inner = expression(rest, of: child, depth: depth, condition)
            return value.map { Expression.guarded(Expression.type($0, is: "object"), inner) } ?? inner
        case .elements:
            let inner = expression(rest, of: .string("$$" + name), depth: depth + 1, condition)
            let array = value ?? "$$ROOT"
            return Expression.guarded(Expression.isArray(array), Expression.any(of: array, as: name, inner))
        case .values:
            let inner = expression(rest, of: .string("$$\(name).v"), depth: depth + 1, condition)
            let object = value ?? "$$ROOT"
            return Expression.guarded(
                Expression.type(object, is: "object"),
                Expression.any(of: ["$objectToArray": object], as: name, inner))
        }
    }
}
