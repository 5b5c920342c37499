import BSON

/// Expressions for those properties of array elements that `$eq` ignores.
///
/// These properties are the types of numbers and texts, and the digits and signs of doubles and decimals. Two arrays
/// are exactly the same if `$eq` finds them equal by the binary collation, and if these properties are equal. The
/// server reads the properties by one `$map` for each array. It evaluates this `$map` several times faster than
/// ``Expression/same(_:_:)``, which is written for any value.
struct ElementFacts {
    /// Expressions over one element, such as the type of one of its fields.
    private(set) var expressions: [BSONValue] = []
    private let variable: String

    var isEmpty: Bool { expressions.isEmpty }

    /// Returns the facts about the elements of an array; `nil` if no expression can read all of them without an error.
    static func list(_ array: BSONDocument) throws(BSONError) -> ElementFacts? {
        try ElementFacts(about: array.elements().map(\.value), depth: 0)
    }

    /// Returns an expression for the facts about each element of an array.
    func read(from array: Expression) -> Expression {
        .call(
            "$map",
            ["input": array, "as": Expression(.string(variable)), "in": Expression(.array(of: expressions))])
    }

    private init?(about elements: [BSONValue], depth: Int) throws(BSONError) {
        variable = "e\(depth)"
        guard depth < Expression.exactLevels, try add(elements, at: "$$" + variable, depth: depth) else { return nil }
    }

    /// Adds the facts about the values that the elements have at a path.
    /// - Returns: whether an expression can read all these facts without an error.
    private mutating func add(_ values: [BSONValue], at path: String, depth: Int) throws(BSONError) -> Bool {
        let types = Set(values.map(\.type))
        if !types.isDisjoint(with: [.int, .long, .double, .decimal, .string, .symbol]) {
            expressions.append(["$type": .string(path)])
        }
        guard types.isDisjoint(with: [.javascriptWithScope]) else { return false }
        if !types.isDisjoint(with: [.double, .decimal]) {
            guard types.isSubset(of: Self.withText) else { return false }
            expressions.append(["$toString": .string(path)])
        }
        let arrays = values.compactMap { value -> BSONDocument? in
            if case .array(let array) = value { array } else { nil }
        }
        if !arrays.isEmpty {
            // `$map` fails if its input is neither an array nor null nor missing.
            guard types.isSubset(of: [.array, .null]) else { return false }
            var inner: [BSONValue] = []
            for array in arrays { inner += try array.elements().map(\.value) }
            guard let facts = try ElementFacts(about: inner, depth: depth + 1) else { return false }
            if !facts.isEmpty { expressions.append(facts.read(from: Expression(.string(path))).bson) }
        }
        var fields: [String: [BSONValue]] = [:]
        for case .object(let object) in values {
            var names: Set<String> = []
            let view = object.view
            var position = view.firstPosition
            while let field = try view.next(&position) {
                let name = view.name(field)
                // A name is refused if it is not ASCII, because Swift treats two names as equal if they encode the same
                // characters by different code points.
                guard view.nameBytes(field).isEqual(to: name), name.utf8.allSatisfy({ $0 < 0x80 }),
                    (try? FieldPath(name))?.components.count == 1 || name == "_id", names.insert(name).inserted
                else { return false }
                fields[name, default: []].append(try view.value(field))
            }
        }
        for (name, values) in fields.sorted(by: { $0.key < $1.key }) {
            guard try add(values, at: "\(path).\(name)", depth: depth) else { return false }
        }
        return true
    }

    /// The types for which `$toString` succeeds with each value, and with every value that `$eq` finds equal to it.
    ///
    /// Text is not one of these types: `$eq` treats a text as equal to a symbol, and `$toString` fails for symbols.
    private static let withText: Set<BSONType> = [.int, .long, .double, .decimal, .bool, .objectId, .null]
}
