import BSON
import ServerSchema

/// Builders of aggregation expressions, as BSON values.
///
/// The expressions can follow paths through arrays and dictionaries, and compute with values. Where neither is needed,
/// a ``FieldQuery`` takes their place.
enum Expression {
    static func type(_ value: BSONValue, is name: String) -> BSONValue { ["$eq": [["$type": value], .string(name)]] }
    static func isArray(_ value: BSONValue) -> BSONValue { ["$isArray": [value]] }
    static func not(_ value: BSONValue) -> BSONValue { ["$not": [value]] }
    static func and(_ values: [BSONValue]) -> BSONValue {
        values.count == 1 ? values[0] : ["$and": .array(of: values)]
    }

    /// Returns an expression that has the value of `then` if the condition is true, and is otherwise false.
    ///
    /// The server evaluates `then` only if the condition is true, so `then` can be an expression that fails for other
    /// values.
    static func guarded(_ condition: BSONValue, _ then: BSONValue) -> BSONValue {
        ["$cond": [condition, then, false]]
    }

    /// Returns an expression for whether `holds` is true for at least one element of the array; `holds` reads the
    /// element as the variable `name`.
    static func any(of array: BSONValue, as name: String, _ holds: BSONValue) -> BSONValue {
        ["$anyElementTrue": [["$map": ["input": array, "as": .string(name), "in": holds]]]]
    }

    /// Returns an expression for a field of `parent` or, if `parent` is `nil`, for a field of the document itself.
    ///
    /// A field path cannot contain a name that is empty or has a `$` or a dot. The expression searches the object's
    /// fields for such a name, because `$getField` exists only from MongoDB 5.0 on.
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

    /// Returns an expression that is true if a string equals the text byte for byte, whatever the collection's
    /// collation.
    static func isText(_ value: BSONValue, _ text: String) -> BSONValue {
        and([
            ["$eq": [["$strLenBytes": value], .integer(text.utf8.count)]],
            ["$eq": [["$indexOfBytes": [value, ["$literal": .string(text)]]], 0]],
        ])
    }
}

/// The filter of a violation group in two forms, which match the same documents.
struct GroupFilter {
    /// The filter as an aggregation expression or a `$jsonSchema`.
    let long: BSONDocument
    /// Whether the filter matches only the documents of the group.
    let isExact: Bool
    /// The condition on the value at the group's path; `nil` if no query operators express it.
    var query: FieldQuery?
}

/// Builds the filter that finds the documents of a violation group: those with the same finding at the same path.
struct FilterBuilder {
    let schema: CompiledSchema

    /// The largest number of steps of a path in a filter; a longer path is cut off, because the server limits how deep
    /// a filter can be nested.
    static var maximumSteps: Int { 16 }

    /// Returns the filter for the documents with a finding, and whether it matches no other documents.
    func filter(for located: FindingCollector.Located) -> (document: BSONDocument, isExact: Bool) {
        let forms = forms(for: located)
        return (forms.short ?? forms.long, forms.isExact)
    }

    /// Returns both forms of a filter; the short one is `nil` if no query operators match the same documents.
    func forms(
        for located: FindingCollector.Located
    ) -> (long: BSONDocument, short: BSONDocument?, isExact: Bool) {
        let filter = groupFilter(for: located)
        let path = schema.path(of: located)
        // An expression for a longer path is cut off, so it matches other documents than a query for the whole path.
        let query = path.steps.count <= Self.maximumSteps ? filter.query : nil
        return (filter.long, query?.filter(at: path), filter.isExact)
    }

    private func groupFilter(for located: FindingCollector.Located) -> GroupFilter {
        if let plan = schema.engine, schema.engineRule(of: located) != nil { return filter(for: located, of: plan) }
        if let key = schema.uniqueKey(of: located) {
            return GroupFilter(long: key.filter(for: located.finding.rule), isExact: false)
        }
        if let plan = schema.jsonSchema { return SchemaSlice(plan: plan).filter(for: located, in: schema) }
        if let plan = schema.constraints, let located = schema.constraint(located) {
            return SchemaSlice(plan: plan).filter(for: located, in: schema)
        }
        let finding = located.finding
        let condition = ValueCondition(finding, in: schema)
        let steps = schema.path(of: located).steps
        let isWhole = steps.count <= Self.maximumSteps
        let isInTuple = schema.nodes[Int(finding.node)].flags.contains(.inTuple)
        if isWhole, finding.found.detail == .equalElements {
            return GroupFilter(long: Self.filterForEqualElements(at: steps), isExact: !isInTuple)
        }
        let expression = expression(steps.prefix(Self.maximumSteps), of: nil, depth: 1) { value in
            isWhole ? condition.holds(for: value) : ["$in": [["$type": value], ["array", "object"]]]
        }
        return GroupFilter(
            long: ["$expr": expression], isExact: condition.isExact && isWhole && !isInTuple, query: condition.query)
    }

    /// Returns a filter for the documents that have an array with equal elements at the path `steps`.
    ///
    /// The filter uses `uniqueItems`, which ignores the order of an object's fields, as the checker does. `$setUnion`
    /// does not ignore this order.
    private static func filterForEqualElements(at steps: [SchemaPath.Step]) -> BSONDocument {
        let schema = steps.reversed().reduce(["uniqueItems": true] as BSONValue) { inner, step in
            switch step {
            case .field(let name) where ProofBuilder.isPlain(name):
                ["properties": .object(BSONDocument([(name, inner)]))]
            case .field(let name): ["patternProperties": .object(BSONDocument([(ProofBuilder.pattern(name), inner)]))]
            case .elements: ["items": inner]
            case .values: ["additionalProperties": inner]
            }
        }
        return ["$nor": [["$jsonSchema": schema]]]
    }

    /// Returns an expression that follows the path `steps` from `value`, and applies `condition` at the path's end.
    ///
    /// The expression is false where a value is not of the type that the next step of the path needs.
    func expression(
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
