import BSON
import ServerSchema

extension ValidatorSchema {
    /// Returns the schema of the values that fit at least one of the given schemas, without `anyOf` where that is
    /// possible.
    static func union(_ branches: [ValidatorSchema]) -> ValidatorSchema {
        if branches.contains(where: \.isUnrestricted) { return ValidatorSchema() }
        let branches = branches.filter { !$0.isNever }
        let plain = branches.filter(\.hasOnlyTypes)
        let types = distinct(plain.flatMap { $0.types ?? [] })
        // If one branch accepts every value of its types, a branch that accepts only values of these types is left out.
        var others = branches.filter { branch in
            !branch.hasOnlyTypes && !(branch.types.map { Set($0).isSubset(of: types) } ?? false)
        }
        if others.count > 1, let list = listOfValues(others) { others = [list] }
        if others.isEmpty {
            return types.isEmpty ? .never : plain.count == 1 ? plain[0] : ValidatorSchema(types: types)
        }
        if others.count == 1, let merged = others[0].accepting(types) { return merged }
        let named = types.isEmpty ? others : others + [ValidatorSchema(types: types)]
        return named.count == 1 ? named[0] : ValidatorSchema("anyOf", .array(of: named.map(\.value)))
    }

    /// Returns the schema extended to all values of the types in `more`; `nil` if the extended schema may need `anyOf`.
    func accepting(_ more: [SchemaType]) -> ValidatorSchema? {
        guard !more.isEmpty else { return self }
        // A keyword such as `minimum` does not restrict values of other types, so types can be added to a schema that
        // has it. A keyword such as `not` restricts values of all types, so a schema that has it cannot be extended.
        guard let types, parts.isEmpty, keywords.keys.allSatisfy({ !Self.combining.contains($0) }),
            Set(types.map(Self.family)).isDisjoint(with: more.map(Self.family))
        else { return nil }
        var result = self
        result.types = types + more
        if let values {
            guard more == [.null] else { return nil }
            result.values = values.contains { $0.type == .null } ? values : values + [.null]
        }
        return result
    }

    private static let combining: Set = ["allOf", "anyOf", "oneOf", "not"]

    /// Returns a schema whose `enum` lists the values of all branches; `nil` if a branch restricts values by anything
    /// else than a list of values and their types.
    private static func listOfValues(_ branches: [ValidatorSchema]) -> ValidatorSchema? {
        var values = DistinctValues()
        var types: [SchemaType] = []
        for branch in branches {
            guard let listed = branch.values, branch.keywords.isEmpty, branch.parts.isEmpty,
                let own = branch.types, listed.allSatisfy({ value in own.contains { $0.includes(value) } })
            else { return nil }
            types += own
            for value in listed { _ = values.insert(value) }
        }
        var result = ValidatorSchema(types: distinct(types))
        result.values = values.values
        return result
    }

    private static func distinct(_ types: [SchemaType]) -> [SchemaType] {
        types.reduce(into: []) { found, type in if !found.contains(type) { found.append(type) } }
    }

    /// Returns `number` for each numeric type, and any other type unchanged.
    ///
    /// The numeric types are one family, because the same keywords apply to all numbers.
    private static func family(_ type: SchemaType) -> SchemaType { SchemaType.numbers.contains(type) ? .number : type }
}

extension SchemaType {
    static let numbers: [SchemaType] = [.double, .int, .long, .decimal]

    fileprivate func includes(_ value: BSONValue) -> Bool {
        value.type.description == rawValue || self == .number && Self.numbers.contains { $0.includes(value) }
    }
}

extension ValidatorSchema {
    /// Whether the types or the listed values show that no value can fit two of the schemas.
    static func areDisjoint(_ schemas: [ValidatorSchema]) -> Bool {
        let types = schemas.compactMap(\.types)
        if types.count == schemas.count {
            let all = types.flatMap { $0.contains(.number) ? $0 + SchemaType.numbers : $0 }
            if Set(all).count == all.count { return true }
        }
        let values = schemas.compactMap(\.values)
        guard values.count == schemas.count else { return false }
        var distinct = DistinctValues()
        return values.joined().allSatisfy { distinct.insert($0) }
    }
}
