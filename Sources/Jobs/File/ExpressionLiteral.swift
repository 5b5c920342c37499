import BSON
import LocatedYAML
import Yams

/// Reads a raw aggregation expression of a job file.
///
/// A key with a leading `$` is an operator, unless the mapping is a value in extended JSON, such as `{$date: …}`. A
/// text with a leading `$` is a path, and one with a leading `$$` a variable. Only the operators of
/// ``ExpressionOperator`` and a few of the server's variables are allowed. An expression therefore runs no code, and
/// has the same result in every run. Jobs that have run before are read without these limits.
enum ExpressionLiteral {
    /// Reads a condition: an aggregation expression, or a filter as in a query.
    ///
    /// The condition applies to the document as it is before the job.
    static func condition(_ node: YAMLNode) throws(JobError) -> Expression {
        try MatchFilter.isFilter(node) ? MatchFilter.expression(node) : expression(node, isOfElement: false)
    }

    /// Reads an expression.
    /// - Parameter isOfElement: Whether the expression is evaluated for each element of a list or dictionary; if so,
    ///   `$$CURRENT` is the element.
    static func expression(_ node: YAMLNode, isOfElement: Bool) throws(JobError) -> Expression {
        let expression = Expression(try value(node))
        if !isOfElement, let place = current(node) {
            throw place.error(
                "an expression cannot use $$CURRENT as a whole: it is the document; name a field of it, like "
                    + "$$CURRENT.total")
        }
        return expression
    }

    /// Returns the first node that is `$$CURRENT` without a field, except for nodes inside a `$literal`; `nil` if there
    /// is none.
    private static func current(_ node: YAMLNode) -> YAMLNode? {
        switch node.node {
        case .scalar(let scalar): return scalar.string == "$$CURRENT" ? node : nil
        case .sequence(let sequence):
            return sequence.lazy.compactMap { current(YAMLNode(node: $0, file: node.file)) }.first
        case .mapping(let mapping):
            return mapping.lazy.filter { $0.key.scalar?.string != "$literal" }.compactMap {
                current(YAMLNode(node: $0.value, file: node.file))
            }.first
        case .alias: return nil
        }
    }

    private static func value(_ node: YAMLNode) throws(JobError) -> BSONValue {
        switch node.node {
        case .scalar(let scalar):
            let value = try JobLiteral.value(node)
            if case .string(let text) = value { try check(variable: text, scalar, node) }
            return value
        case .sequence(let sequence):
            var values: [BSONValue] = []
            for element in sequence { values.append(try value(YAMLNode(node: element, file: node.file))) }
            return .array(of: values)
        case .mapping(let mapping): return try object(mapping, node)
        case .alias: throw node.error("an expression cannot have aliases")
        }
    }

    private static func object(_ mapping: Node.Mapping, _ node: YAMLNode) throws(JobError) -> BSONValue {
        let names = mapping.keys.compactMap { $0.scalar?.string }
        if names.first.map(isWrapper) == true { return try JobLiteral.value(node) }
        var members: [(String, BSONValue)] = []
        for (key, member) in mapping {
            let place = YAMLNode(node: key, file: node.file)
            guard let name = key.scalar?.string, !name.utf8.contains(0) else {
                throw place.error("a name must be a text without a NUL")
            }
            if name.hasPrefix("$") {
                try check(operator: name, place)
                guard names.count == 1 else {
                    throw place.error("\(name) is an operator, which must be the only key of its mapping")
                }
            }
            let inner = YAMLNode(node: member, file: node.file)
            members.append((name, name == "$literal" ? try JobLiteral.value(inner) : try value(inner)))
        }
        return .object(BSONDocument(members))
    }

    private static func check(variable text: String, _ scalar: Node.Scalar, _ node: YAMLNode) throws(JobError) {
        guard text.hasPrefix("$$"), !JobFile.isOfThePast else { return }
        let name = text.dropFirst(2).prefix { $0 != "." }
        guard text != "$$ROOT" else {
            throw node.error("an expression cannot use $$ROOT as a whole: name a field of it, like $$ROOT.total")
        }
        // A variable that begins with a lower-case letter is one that the expression binds itself, and is allowed. The
        // server requires the lower-case letter.
        guard name.first?.isUppercase == true, !variables.contains(String(name)) else { return }
        let reason = refused["$$\(name)"] ?? "the only server variables are $$NOW, $$ROOT and $$CURRENT"
        throw node.error("an expression cannot use $$\(name): \(reason)")
    }

    private static func check(operator name: String, _ place: YAMLNode) throws(JobError) {
        guard ExpressionOperator(name) == nil, !JobFile.isOfThePast else { return }
        let reason =
            refused[name]
            ?? "it is not one of the operators that only compute a value"
            + (ExpressionOperator.hint(for: name).map { " (\($0))" } ?? "")
        throw place.error("an expression cannot use \(name): \(reason)")
    }

    static func isWrapper(_ name: String) -> Bool { wrappers.contains(name) }

    /// The type keys of extended JSON, which are no operators.
    ///
    /// The aggregation operators for these types have other names, such as `$toDate`.
    private static let wrappers: Set = [
        "$oid", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$date", "$binary", "$uuid",
        "$timestamp",
        "$regularExpression", "$minKey", "$maxKey", "$symbol", "$code", "$undefined", "$dbPointer",
    ]

    private static let isCode = "it runs code, which might compute another value in another run"
    private static let isRandom = "another run would compute another value"
    private static let isCommand = "it is not an operator of expressions"

    /// The server's variables that are allowed, because they have the same value for a document in every run.
    ///
    /// `$$NOW` is replaced by the time of the job's start.
    private static let variables: Set = ["NOW", "ROOT", "CURRENT"]

    /// The reasons why certain operators and variables are refused, for error messages.
    private static let refused: [String: String] = [
        "$function": isCode, "$accumulator": isCode, "$where": isCode, "$rand": isRandom, "$sampleRate": isRandom,
        "$createObjectId": isRandom, "$createUUID": isRandom, "$currentDate": "write $$NOW", "$$CLUSTER_TIME": isRandom,
        "$$USER_ROLES": isRandom, "$$JS_SCOPE": isCode, "$$IS_MR": isCode, "$$SEARCH_META": isCommand,
        "$$REMOVE": "a step \"unset\" removes a field", "$lookup": isCommand, "$merge": isCommand, "$out": isCommand,
        "$expr": isCommand, "$meta": isCommand,
    ]
}
