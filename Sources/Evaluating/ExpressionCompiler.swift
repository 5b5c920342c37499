import BSON
import Jobs
import Patterns

/// Compiles an aggregation expression into ``Node``s.
struct ExpressionCompiler {
    /// The top-level fields that this expression and the expressions compiled before it in the same group read.
    private(set) var group: SharedFields
    /// The number of variables that the expression binds.
    private var slotCount = 0 {
        didSet { group.slotCount = max(group.slotCount, slotCount) }
    }
    /// The names of the top-level fields of ``group`` that the expression reads.
    private(set) var fieldNames: [String] = []
    /// Whether the expression reads more of the document than the fields of ``fieldNames``.
    private(set) var readsMore = false
    private var variables: [String: Int] = [:]
    /// The operands of `$toHashedIndexKey`, each by the name of the `$let` variable that holds the hash.
    ///
    /// Such a variable can be read only in the comparison that ``comparedWithItsMerge(_:)`` compiles.
    private var hashes: [String: BSONValue] = [:]
    /// The value in which a path such as `$name` starts: the document, unless `CURRENT` is bound to another value.
    private var current = Node.Base.root

    init(_ group: SharedFields) { self.group = group }

    mutating func compile(_ value: BSONValue) -> Node {
        switch value {
        case .string(let text) where text.hasPrefix("$$"): variable(String(text.dropFirst(2)))
        case .string(let text) where text.hasPrefix("$"): path(current, Self.names(text.dropFirst()))
        case .array(let document): .array(document.values.map { compile($0) })
        case .object(let document): object(document)
        default: .constant(value)
        }
    }

    private static func names(_ path: Substring) -> [String] {
        path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the node for a path.
    ///
    /// For a path in the document, the node holds the index of the top-level field in ``group``, or, if the group has
    /// no room for another field, the field's name.
    private mutating func path(_ base: Node.Base, _ names: [String]) -> Node {
        guard base == .root else { return .path(base, names) }
        guard let name = names.first, let index = group.index(of: name) else {
            readsMore = true
            return .path(base, names)
        }
        fieldNames.append(name)
        return .field(index, Array(names.dropFirst()))
    }

    private mutating func variable(_ text: String) -> Node {
        let names = Self.names(text[...])
        let rest = Array(names.dropFirst())
        switch names[0] {
        case "ROOT": return path(.root, rest)
        case "CURRENT": return path(current, rest)
        case "REMOVE": return .missing
        case let name:
            guard let slot = variables[name] else { return .unknown("$$\(name)") }
            return path(.variable(slot), rest)
        }
    }

    private mutating func object(_ document: BSONDocument) -> Node {
        guard let elements = try? document.elements() else { return .unknown("a damaged expression") }
        if elements.count == 1, elements[0].name.hasPrefix("$") {
            return operation(elements[0].name, elements[0].value)
        }
        var fields: [(name: String, value: Node)] = []
        for (name, value) in elements { fields.append((name, compile(value))) }
        return .object(fields)
    }

    /// Calls `body` with a new slot for a variable of this name, which is in scope only during the call.
    private mutating func binding<R>(_ name: String, _ body: (inout ExpressionCompiler, Int) -> R) -> R {
        let (slot, before, base) = (slotCount, variables[name], current)
        slotCount += 1
        if name == "CURRENT" { current = .variable(slot) } else { variables[name] = slot }
        defer { (variables[name], current) = (before, base) }
        return body(&self, slot)
    }

    /// Compiles the operands of an operator that takes an array of operands, or a single one.
    private mutating func operands(_ value: BSONValue) -> [Node] {
        if case .array(let list) = value { return list.values.map { compile($0) } }
        return [compile(value)]
    }

    private mutating func operation(_ name: String, _ value: BSONValue) -> Node {
        let unknown = Node.unknown(name)
        switch name {
        case "$literal": return .constant(value)
        case "$and": return .all(operands(value))
        case "$or": return .any(operands(value))
        case "$not":
            if let equality = Self.only(value), let merge = comparedWithItsMerge(equality) { return merge }
            return .not(operands(value).first ?? unknown)
        case "$let": return letting(value) ?? unknown
        case "$map", "$filter": return mapping(name, value) ?? unknown
        case "$cond": return condition(value) ?? unknown
        case "$convert": return conversion(value) ?? unknown
        case "$zip":
            guard let inputs = value.document?["inputs"], (try? value.document?.elements().count) == 1 else {
                return unknown
            }
            return .zip(operands(inputs))
        case "$rtrim":
            guard let members = value.document, let input = members["input"], let chars = members["chars"] else {
                return unknown
            }
            return .trimmedEnd(compile(input), of: compile(chars))
        case "$regexMatch": return match(value) ?? unknown
        default: break
        }
        let operands = operands(value)
        let order: Node.Order? =
            switch name {
            case "$eq": .equal
            case "$ne": .unequal
            case "$lt": .less
            case "$lte": .atMost
            case "$gt": .greater
            case "$gte": .atLeast
            default: nil
            }
        switch (name, operands.count) {
        case (_, 2) where order != nil: return .compare(order ?? .equal, operands[0], operands[1])
        case ("$type", 1): return .type(operands[0])
        case ("$in", 2): return .isAmong(operands[0], operands[1])
        case ("$ifNull", 2...): return .firstPresent(operands)
        case ("$anyElementTrue", 1): return .someElement(operands[0])
        case ("$allElementsTrue", 1): return .everyElement(operands[0])
        case ("$objectToArray", 1): return .entries(operands[0])
        case ("$arrayToObject", 1): return .fromEntries(operands[0])
        case ("$mergeObjects", 1...): return .merged(operands)
        case ("$arrayElemAt", 2): return .element(operands[0], at: operands[1])
        case ("$size", 1): return .count(operands[0])
        case ("$isNumber", 1): return .hasType(operands[0], TypeSet.numbers)
        case ("$abs", 1): return .absolute(operands[0])
        case ("$round", 1): return .rounded(operands[0])
        case ("$multiply", 2): return .product(operands[0], operands[1])
        case ("$divide", 2): return .quotient(operands[0], operands[1])
        case ("$split", 2): return .split(operands[0], by: operands[1])
        case ("$concat", _): return .concat(operands)
        case ("$strLenBytes", 1): return .byteCount(operands[0])
        case ("$indexOfBytes", 2...4):
            return .byteIndex(
                operands[0], of: operands[1], from: operands.count > 2 ? operands[2] : nil,
                to: operands.count > 3 ? operands[3] : nil)
        case ("$substrBytes", 3): return .bytes(operands[0], from: operands[1], count: operands[2])
        case ("$toString", 1): return .convert(operands[0], to: .constant("string"), onError: nil, onNull: nil)
        case ("$bsonSize", 1): return .size(operands[0])
        default: return unknown
        }
    }

    /// Returns the only operand of an operator; `nil` if the operator does not have exactly one operand.
    private static func only(_ value: BSONValue) -> BSONValue? {
        guard case .array(let list) = value else { return value }
        return list.values.count == 1 ? list.values[0] : nil
    }

    /// Returns the node ``Node/changesByMerging(_:seesKeys:)``, which is the negation of `equality`.
    ///
    /// The parameter `equality` must compare an object with the result of `$mergeObjects` for this object, by the
    /// hashes or by the sizes of the two. For any other expression, the result is `nil`.
    private mutating func comparedWithItsMerge(_ equality: BSONValue) -> Node? {
        guard let sides = equality.document?["$eq"]?.document?.values, sides.count == 2 else { return nil }
        func taken(_ value: BSONValue, _ name: String) -> BSONValue? {
            if let text = value.text, text.hasPrefix("$$"), name == "$toHashedIndexKey" {
                return hashes[String(text.dropFirst(2))]
            }
            return value.document?[name].flatMap(Self.only)
        }
        for name in ["$toHashedIndexKey", "$bsonSize"] {
            guard let object = taken(sides[0], name), let other = taken(sides[1], name),
                let merged = other.document?["$mergeObjects"].flatMap(Self.only), merged == object
            else { continue }
            return .changesByMerging(compile(object), seesKeys: name == "$toHashedIndexKey")
        }
        return nil
    }

    private mutating func letting(_ value: BSONValue) -> Node? {
        guard let members = value.document, let body = members["in"],
            let bound = try? members["vars"]?.document?.elements()
        else { return nil }
        // The values are compiled before the variables of this `$let` are in scope, because they cannot read these
        // variables.
        var values: [(name: String, node: Node)] = []
        for (name, value) in bound {
            if let hashed = value.document?["$toHashedIndexKey"] {
                hashes[name] = hashed
            } else {
                values.append((name, compile(value)))
            }
        }
        let node = letting(values[...], body, [])
        guard case .bind(let values, let condition) = node, values.count == 2, bound.map(\.name) == ["left", "right"],
            Expression.comparesLeftAndRight(body)
        else { return node }
        return .isSame(values, by: condition)
    }

    private mutating func letting(
        _ rest: ArraySlice<(name: String, node: Node)>, _ body: BSONValue, _ slots: [(slot: Int, value: Node)]
    ) -> Node {
        guard let next = rest.first else { return .bind(slots, in: compile(body)) }
        return binding(next.name) { compiler, slot in
            compiler.letting(rest.dropFirst(), body, slots + [(slot, next.node)])
        }
    }

    private mutating func mapping(_ name: String, _ value: BSONValue) -> Node? {
        guard let members = value.document, let input = members["input"], members["limit"] == nil,
            let body = members[name == "$map" ? "in" : "cond"]
        else { return nil }
        let list = compile(input)
        return binding(members["as"]?.text ?? "this") { compiler, slot in
            let body = compiler.compile(body)
            return name == "$map" ? .map(list, slot: slot, to: body) : .filter(list, slot: slot, by: body)
        }
    }

    private mutating func condition(_ value: BSONValue) -> Node? {
        if case .array(let list) = value {
            let parts = list.values
            guard parts.count == 3 else { return nil }
            return .choose(if: compile(parts[0]), then: compile(parts[1]), else: compile(parts[2]))
        }
        guard let members = value.document, let condition = members["if"], let then = members["then"],
            let other = members["else"]
        else { return nil }
        return .choose(if: compile(condition), then: compile(then), else: compile(other))
    }

    private mutating func conversion(_ value: BSONValue) -> Node? {
        guard let members = value.document, let input = members["input"], let target = members["to"],
            let names = try? members.elements().map(\.name),
            Set(names).isSubset(of: ["input", "to", "onError", "onNull"])
        else { return nil }
        let (onError, onNull) = (members["onError"], members["onNull"])
        return .convert(
            compile(input), to: compile(target), onError: onError.map { compile($0) },
            onNull: onNull.map { compile($0) })
    }

    private mutating func match(_ value: BSONValue) -> Node? {
        guard let members = value.document, let input = members["input"], members["options"] == nil,
            case .constant(.string(let text))? = members["regex"].map({ compile($0) }),
            let pattern = try? Pattern(text, mode: .characters)
        else { return nil }
        return .matches(compile(input), pattern: pattern)
    }
}

extension Node {
    /// A simpler node with the same result.
    ///
    /// Most nodes that compare a `$type` with names of types become ``hasType(_:_:)``, which copies no value.
    var simplified: Node {
        switch self {
        case .all(let parts):
            Self.joined(parts, without: true, as: Node.all) { if case .all(let inner) = $0 { inner } else { nil } }
        case .any(let parts):
            Self.joined(parts, without: false, as: Node.any) { if case .any(let inner) = $0 { inner } else { nil } }
        case .not(let part): .not(part.simplified)
        case .isAmong(.type(let subject), .array(let aliases)): Self.hasType(subject, aliases) ?? self
        case .isAmong(.type(let subject), .constant(.array(let aliases))):
            Self.hasType(subject, aliases.values.map { .constant($0) }) ?? self
        case .isAmong(let value, .constant(.array(let list))):
            .isAmong(value.simplified, .array(list.values.map { .constant($0) }))
        case .isAmong(let value, let list): .isAmong(value.simplified, list.simplified)
        case .compare(.equal, .type(let subject), .constant(let alias)):
            Self.hasType(subject, [.constant(alias)]) ?? self
        case .compare(let order, let left, let right): .compare(order, left.simplified, right.simplified)
        case .choose(let condition, let then, let other):
            .choose(if: condition.simplified, then: then.simplified, else: other.simplified)
        case .bind(let values, let body):
            .bind(values.map { ($0.slot, $0.value.simplified) }, in: body.simplified)
        case .isSame(let values, let condition):
            .isSame(values.map { ($0.slot, $0.value.simplified) }, by: condition.simplified)
        case .map(let list, let slot, let body): .map(list.simplified, slot: slot, to: body.simplified)
        case .filter(let list, let slot, let body): .filter(list.simplified, slot: slot, by: body.simplified)
        case .someElement(let list): .someElement(list.simplified)
        case .everyElement(let list): .everyElement(list.simplified)
        case .entries(let part): .entries(part.simplified)
        case .fromEntries(let part): .fromEntries(part.simplified)
        case .array(let parts): .array(parts.map(\.simplified))
        case .object(let fields): .object(fields.map { ($0.name, $0.value.simplified) })
        case .convert(let input, let to, let onError, let onNull):
            .convert(input.simplified, to: to, onError: onError?.simplified, onNull: onNull?.simplified)
        default: self
        }
    }

    /// Returns the simplified parts of an `all` or `any` as one node, without nested nodes of the same kind and without
    /// the constant `neutral`, which does not change the result.
    private static func joined(
        _ parts: [Node], without neutral: Bool, as kind: ([Node]) -> Node, _ inner: (Node) -> [Node]?
    ) -> Node {
        let all = parts.map(\.simplified).flatMap { inner($0) ?? [$0] }.filter { part in
            if case .constant(.bool(neutral)) = part { false } else { true }
        }
        // A single part that may have a value of another type than bool stays inside the `all` or `any`, which converts
        // the value to a bool.
        guard all.count == 1, all[0].isCondition else { return kind(all) }
        return all[0]
    }

    /// Whether the node always evaluates to a bool.
    private var isCondition: Bool {
        switch self {
        case .all, .any, .not, .hasType, .fieldHasType, .compare, .isAmong, .isSame, .someElement, .everyElement,
            .changesByMerging:
            true
        default: false
        }
    }

    private static func hasType(_ subject: Node, _ aliases: [Node]) -> Node? {
        var types = TypeSet()
        for alias in aliases {
            guard case .constant(.string(let name)) = alias else { return nil }
            // If no BSON type has the name `name`, no value can match it, so `types` stays unchanged.
            _ = types.insert(name)
        }
        if case .field(let index, let rest) = subject, rest.isEmpty { return .fieldHasType(index, types) }
        return .hasType(subject.simplified, types)
    }
}
