import BSON
import Concurrency
import Jobs
import Patterns

/// Compiles an aggregation expression into the nodes of a ``NodeTable``.
struct ExpressionCompiler {
    private(set) var table = NodeTable()
    /// The top-level fields that this expression and the expressions compiled before it in the same group read.
    private(set) var group: SharedFields
    /// The number of variables that the expression binds.
    private var slotCount: Node.Slot = 0 {
        didSet { group.slotCount = max(group.slotCount, Int(slotCount)) }
    }
    /// The names of the top-level fields of ``group`` that the expression reads.
    private(set) var fieldNames: [String] = []
    /// Whether the expression reads more of the document than the fields of ``fieldNames``.
    private(set) var readsMore = false
    private var variables: [String: Node.Slot] = [:]
    /// The operands of `$toHashedIndexKey`, each by the name of the `$let` variable that holds the hash.
    ///
    /// Such a variable can be read only in the comparison that ``comparedWithItsMerge(_:)`` compiles.
    private var hashes: [String: BSONValue] = [:]
    /// The value in which a path such as `$name` starts: the document, unless `CURRENT` is bound to another value.
    private var current = Node.Base.root

    init(_ group: SharedFields) { self.group = group }

    /// Returns the place of the node that evaluates an expression.
    mutating func compile(_ value: BSONValue) -> NodeID {
        switch value {
        case .string(let text) where text.hasPrefix("$$"): variable(String(text.dropFirst(2)))
        case .string(let text) where text.hasPrefix("$"): path(current, Self.names(text.dropFirst()))
        case .array(let document): table.add(.array(all(document.values)))
        case .object(let document): object(document)
        default: constant(value)
        }
    }

    private mutating func all(_ values: [BSONValue]) -> Node.Operands {
        let parts = values.map { compile($0) }
        return table.add(parts)
    }

    private mutating func constant(_ value: BSONValue) -> NodeID { table.add(.constant(table.add(constant: value))) }

    private mutating func unknown(_ name: String) -> NodeID { table.add(.unknown(table.add(name: name))) }

    private static func names(_ path: Substring) -> [String] {
        path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the node for a path.
    ///
    /// For a path in the document, the node holds the index of the top-level field in ``group``, or, if the group has
    /// no room for another field, the field's name.
    private mutating func path(_ base: Node.Base, _ names: [String]) -> NodeID {
        guard base == .root else { return table.add(.path(base, table.add(names))) }
        guard let name = names.first, let index = group.index(of: name) else {
            readsMore = true
            return table.add(.path(base, table.add(names)))
        }
        fieldNames.append(name)
        return table.add(.field(Int32(index), table.add(Array(names.dropFirst()))))
    }

    private mutating func variable(_ text: String) -> NodeID {
        let names = Self.names(text[...])
        let rest = Array(names.dropFirst())
        switch names[0] {
        case "ROOT": return path(.root, rest)
        case "CURRENT": return path(current, rest)
        case "REMOVE": return table.add(.missing)
        case let name:
            guard let slot = variables[name] else { return unknown("$$\(name)") }
            return path(.variable(slot), rest)
        }
    }

    private mutating func object(_ document: BSONDocument) -> NodeID {
        guard let elements = try? document.elements() else { return unknown("a damaged expression") }
        if elements.count == 1, elements[0].name.hasPrefix("$") {
            return operation(elements[0].name, elements[0].value)
        }
        let values = all(elements.map(\.value))
        return table.add(.object(table.add(elements.map(\.name)), values))
    }

    /// Calls `body` with a new slot for a variable of this name, which is in scope only during the call.
    private mutating func binding<R>(_ name: String, _ body: (inout ExpressionCompiler, Node.Slot) -> R) -> R {
        let (slot, before, base) = (slotCount, variables[name], current)
        slotCount += 1
        if name == "CURRENT" { current = .variable(slot) } else { variables[name] = slot }
        defer { (variables[name], current) = (before, base) }
        return body(&self, slot)
    }

    /// Compiles the operands of an operator that takes an array of operands, or a single one.
    private mutating func operands(_ value: BSONValue) -> [NodeID] {
        if case .array(let list) = value { return list.values.map { compile($0) } }
        return [compile(value)]
    }

    /// The constants that a planted mistake puts in the place of an operator.
    ///
    /// There are several, because an operator that gets an operand of a wrong type is left to the server.
    static let mistakes: [BSONValue] = [nil, [], [true], true, "x", 1, [[["v": 1], ["v": "x"]]]]

    private mutating func operation(_ name: String, _ value: BSONValue) -> NodeID {
        if let mistake = FaultInjection.mistake(in: name, of: "operator"), Self.mistakes.indices.contains(mistake) {
            return constant(Self.mistakes[mistake])
        }
        let known: NodeID? =
            switch name {
            case "$literal": constant(value)
            case "$and": joined(operands(value), isAll: true)
            case "$or": joined(operands(value), isAll: false)
            case "$not": negation(value)
            case "$let": letting(value)
            case "$map", "$filter": mapping(name, value)
            case "$cond": condition(value)
            case "$convert": conversion(value)
            case "$zip": zipped(value)
            case "$rtrim": trimmed(value)
            case "$regexMatch": match(value)
            default: operation(name, of: operands(value))
            }
        return known ?? unknown(name)
    }

    /// Compiles an operator whose operands are listed in an array; `nil` for an unknown operator, and for one that
    /// takes another number of operands.
    private mutating func operation(_ name: String, of operands: [NodeID]) -> NodeID? {
        if let order = Self.orders[name] {
            return operands.count == 2 ? comparison(order, operands[0], operands[1]) : nil
        }
        let node: Node
        switch (name, operands.count) {
        case ("$type", 1): node = .type(operands[0])
        case ("$in", 2): return membership(operands[0], operands[1])
        case ("$ifNull", 2...): node = .firstPresent(table.add(operands))
        case ("$anyElementTrue", 1): node = .someElement(operands[0])
        case ("$allElementsTrue", 1): node = .everyElement(operands[0])
        case ("$objectToArray", 1): node = .entries(operands[0])
        case ("$arrayToObject", 1): node = .fromEntries(operands[0])
        case ("$mergeObjects", 1...): node = .merged(table.add(operands))
        case ("$arrayElemAt", 2): node = .element(operands[0], at: operands[1])
        case ("$size", 1): node = .count(operands[0])
        case ("$isNumber", 1): node = .hasType(operands[0], TypeSet.numbers)
        case ("$abs", 1): node = .absolute(operands[0])
        case ("$round", 1): node = .rounded(operands[0])
        case ("$multiply", 2): node = .product(operands[0], operands[1])
        case ("$divide", 2): node = .quotient(operands[0], operands[1])
        case ("$split", 2): node = .split(operands[0], by: operands[1])
        case ("$concat", _): node = .concat(table.add(operands))
        case ("$strLenBytes", 1): node = .byteCount(operands[0])
        case ("$indexOfBytes", 2...4):
            node = .byteIndex(
                operands[0], of: operands[1], from: operands.count > 2 ? operands[2] : nil,
                to: operands.count > 3 ? operands[3] : nil)
        case ("$substrBytes", 3): node = .bytes(operands[0], from: operands[1], count: operands[2])
        case ("$toString", 1): node = .convert(operands[0], to: constant("string"), onError: nil, onNull: nil)
        case ("$bsonSize", 1): node = .size(operands[0])
        default: return nil
        }
        return table.add(node)
    }

    private static let orders: [String: Node.Order] = [
        "$eq": .equal, "$ne": .unequal, "$lt": .less, "$lte": .atMost, "$gt": .greater, "$gte": .atLeast,
    ]

    private mutating func negation(_ value: BSONValue) -> NodeID? {
        if let equality = Self.only(value), let merge = comparedWithItsMerge(equality) { return merge }
        return operands(value).first.map { table.add(.not($0)) }
    }

    private mutating func zipped(_ value: BSONValue) -> NodeID? {
        guard let inputs = value.document?["inputs"], (try? value.document?.elements().count) == 1 else { return nil }
        let lists = operands(inputs)
        return table.add(.zip(table.add(lists)))
    }

    private mutating func trimmed(_ value: BSONValue) -> NodeID? {
        guard let members = value.document, let input = members["input"], let chars = members["chars"] else {
            return nil
        }
        let (text, characters) = (compile(input), compile(chars))
        return table.add(.trimmedEnd(text, of: characters))
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
    private mutating func comparedWithItsMerge(_ equality: BSONValue) -> NodeID? {
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
            let subject = compile(object)
            return table.add(.changesByMerging(subject, seesKeys: name == "$toHashedIndexKey"))
        }
        return nil
    }

    private mutating func letting(_ value: BSONValue) -> NodeID? {
        guard let members = value.document, let body = members["in"],
            let bound = try? members["vars"]?.document?.elements()
        else { return nil }
        // The values are compiled before the variables of this `$let` are in scope, because they cannot read these
        // variables.
        var (names, values): ([String], [NodeID]) = ([], [])
        for (name, value) in bound {
            if let hashed = value.document?["$toHashedIndexKey"] {
                hashes[name] = hashed
            } else {
                names.append(name)
                values.append(compile(value))
            }
        }
        let (slot, operands) = (slotCount, table.add(values))
        let result = binding(names[...]) { $0.compile(body) }
        let isComparison =
            values.count == 2 && bound.map(\.name) == ["left", "right"] && Expression.comparesLeftAndRight(body)
        return table.add(
            isComparison ? .isSame(operands, from: slot, by: result) : .bind(operands, from: slot, in: result))
    }

    /// Calls `body` with new slots for variables of these names, which follow each other.
    private mutating func binding(
        _ names: ArraySlice<String>, _ body: (inout ExpressionCompiler) -> NodeID
    ) -> NodeID {
        guard let name = names.first else { return body(&self) }
        return binding(name) { compiler, _ in compiler.binding(names.dropFirst(), body) }
    }

    private mutating func mapping(_ name: String, _ value: BSONValue) -> NodeID? {
        guard let members = value.document, let input = members["input"], members["limit"] == nil,
            let body = members[name == "$map" ? "in" : "cond"]
        else { return nil }
        let list = compile(input)
        return binding(members["as"]?.text ?? "this") { compiler, slot in
            let body = compiler.compile(body)
            return compiler.table.add(
                name == "$map" ? .map(list, slot: slot, to: body) : .filter(list, slot: slot, by: body))
        }
    }

    private mutating func condition(_ value: BSONValue) -> NodeID? {
        let parts: [BSONValue?] =
            if case .array(let list) = value {
                list.values
            } else {
                ["if", "then", "else"].map { value.document?[$0] }
            }
        guard parts.count == 3, let condition = parts[0], let then = parts[1], let other = parts[2] else { return nil }
        let nodes = (compile(condition), compile(then), compile(other))
        return table.add(.choose(if: nodes.0, then: nodes.1, else: nodes.2))
    }

    private mutating func conversion(_ value: BSONValue) -> NodeID? {
        guard let members = value.document, let input = members["input"], let target = members["to"],
            let names = try? members.elements().map(\.name),
            Set(names).isSubset(of: ["input", "to", "onError", "onNull"])
        else { return nil }
        let (text, type) = (compile(input), compile(target))
        let onError = members["onError"].map { compile($0) }
        let onNull = members["onNull"].map { compile($0) }
        return table.add(.convert(text, to: type, onError: onError, onNull: onNull))
    }

    private mutating func match(_ value: BSONValue) -> NodeID? {
        guard let members = value.document, let input = members["input"], members["options"] == nil,
            let regex = members["regex"].map({ compile($0) }), case .string(let text)? = self.value(of: regex),
            let pattern = try? Pattern(text, mode: .characters)
        else { return nil }
        let subject = compile(input)
        return table.add(.matches(subject, pattern: table.add(pattern: pattern)))
    }

    private func value(of node: NodeID) -> BSONValue? {
        if case .constant(let place) = table[node] { table.constants[Int(place)] } else { nil }
    }
}

/// Nodes that have the same result as the operator they stand for, and cost less.
extension ExpressionCompiler {
    /// Returns an `all` or `any` of the parts, without nested nodes of the same kind and without constants that do not
    /// change the result.
    private mutating func joined(_ parts: [NodeID], isAll: Bool) -> NodeID {
        var joined: [NodeID] = []
        for part in parts where value(of: part) != .bool(isAll) {
            switch (table[part], isAll) {
            case (.all(let inner), true), (.any(let inner), false): joined += inner.map { table[operand: $0] }
            default: joined.append(part)
            }
        }
        // A single part that may have a value of another type than bool stays inside the `all` or `any`, which converts
        // the value to a bool.
        if joined.count == 1, table[joined[0]].isCondition { return joined[0] }
        return table.add(isAll ? .all(table.add(joined)) : .any(table.add(joined)))
    }

    /// Returns a comparison; one of a `$type` with the name of a type becomes a test of the type, which copies no
    /// value.
    private mutating func comparison(_ order: Node.Order, _ left: NodeID, _ right: NodeID) -> NodeID {
        if order == .equal, let alias = value(of: right), let test = typeTest(of: left, [alias]) { return test }
        return table.add(.compare(order, left, right))
    }

    /// Returns a node that searches a list; a search for a `$type` in names of types becomes a test of the type.
    private mutating func membership(_ subject: NodeID, _ list: NodeID) -> NodeID {
        if case .array(let constants)? = value(of: list) {
            let values = constants.values
            if let test = typeTest(of: subject, values) { return test }
            let elements = values.map { constant($0) }
            return table.add(.isAmong(subject, table.add(.array(table.add(elements)))))
        }
        if case .array(let elements) = table[list] {
            let values = elements.compactMap { value(of: table[operand: $0]) }
            if values.count == elements.count, let test = typeTest(of: subject, values) { return test }
        }
        return table.add(.isAmong(subject, list))
    }

    /// Returns the test whether the value whose `$type` is `node` has one of the types `aliases`; `nil` if `node` is
    /// no `$type`, or if an alias is no text.
    private mutating func typeTest(of node: NodeID, _ aliases: [BSONValue]) -> NodeID? {
        guard case .type(let subject) = table[node] else { return nil }
        var types = TypeSet()
        for alias in aliases {
            guard case .string(let name) = alias else { return nil }
            // No value can match a name that no BSON type has.
            types.insert(name)
        }
        if case .field(let index, let rest) = table[subject], rest.isEmpty {
            return table.add(.fieldHasType(index, types))
        }
        return table.add(.hasType(subject, types))
    }
}

extension Node {
    /// Whether the node always evaluates to a bool.
    fileprivate var isCondition: Bool {
        switch self {
        case .all, .any, .not, .hasType, .fieldHasType, .compare, .isAmong, .isSame, .someElement, .everyElement,
            .changesByMerging:
            true
        default: false
        }
    }
}
