internal import BSON
internal import Patterns

/// Reads the keywords that restrict a value by more than its type, such as `minimum`.
///
/// MongoDB's `$jsonSchema` has the same keywords.
extension AppServicesReader {
    /// Reads `keyword` into `node.constraints`, if it is a keyword that restricts values.
    /// - Returns: `false` if `keyword` does not restrict values, or if its value restricts nothing, such as an empty
    ///   `enum`.
    /// - Throws: ``SchemaError`` if the keyword's value is of the wrong kind.
    mutating func readConstraint(
        _ keyword: Keyword, _ member: LocatedJSON.Member, into node: inout SchemaNode
    ) throws(SchemaError) -> Bool {
        let json = member.value
        switch keyword {
        case .minimum: node.constraints.minimum.number = try LocatedBSON(json).number(of: keyword)
        case .maximum: node.constraints.maximum.number = try LocatedBSON(json).number(of: keyword)
        case .exclusiveMinimum: node.constraints.minimum.isExclusive = try LocatedBSON(json).flag(of: keyword)
        case .exclusiveMaximum: node.constraints.maximum.isExclusive = try LocatedBSON(json).flag(of: keyword)
        case .multipleOf: node.constraints.multipleOf = try divisor(json)
        case .minLength: node.constraints.length.minimum = try count(json, of: keyword)
        case .maxLength: node.constraints.length.maximum = try count(json, of: keyword)
        case .minItems: node.constraints.itemCount.minimum = try count(json, of: keyword)
        case .maxItems: node.constraints.itemCount.maximum = try count(json, of: keyword)
        case .minProperties: node.constraints.propertyCount.minimum = try count(json, of: keyword)
        case .maxProperties: node.constraints.propertyCount.maximum = try count(json, of: keyword)
        case .pattern: return try readPattern(member, into: &node)
        case .patternProperties: return try readPatternProperties(member, into: &node)
        case .additionalItems: node.constraints.additionalItems = try additionalProperties(json, of: keyword)
        case .dependencies: node.constraints.dependencies = try dependencies(json)
        case .enum: return try readEnum(json, into: &node)
        case .allOf, .anyOf, .oneOf, .not: return try readCombination(keyword, json, into: &node)
        default: return false
        }
        return true
    }

    private func divisor(_ json: LocatedJSON) throws(SchemaError) -> BSONValue {
        let value = try LocatedBSON(json).number(of: .multipleOf)
        let isUsable =
            switch BSONNumber(value) {
            case .integer(let number): number > 0
            case .double(let number): number > 0 && number.isFinite
            case .decimal(let number): !number.isNegative && !number.isZero && number.isFinite
            case nil: false
            }
        guard isUsable else { throw wrong(.multipleOf, json, "a number above 0") }
        return value
    }

    private func count(_ json: LocatedJSON, of keyword: Keyword) throws(SchemaError) -> Int64 {
        let count: Int64? =
            switch BSONNumber(try LocatedBSON(json).number(of: keyword)) {
            case .integer(let value): value
            case .double(let value): Int64(exactly: value)
            default: nil
            }
        guard let count, count >= 0 else { throw wrong(keyword, json, "a whole number from 0 on") }
        return count
    }
}

// MARK: patterns

extension AppServicesReader {
    /// Returns whether a regular expression compiles; if not, adds a note.
    ///
    /// An expression that does not compile is not an error, because App Services does not document the syntax of its
    /// regular expressions.
    private mutating func isReadable(_ text: String, mode: Pattern.Mode, at location: SourceLocation) -> Bool {
        do throws(PatternError) {
            _ = try Pattern(text, mode: mode)
            return true
        } catch {
            note(.unevaluatedKeyword, location, "the pattern \"\(text)\" is not evaluated: \(error)")
            return false
        }
    }

    private mutating func readPattern(
        _ member: LocatedJSON.Member, into node: inout SchemaNode
    ) throws(SchemaError) -> Bool {
        let text = try LocatedBSON(member.value).text(of: .pattern)
        if isReadable(text, mode: .characters, at: member.value.location) {
            node.constraints.pattern = text
        } else {
            node.unevaluated.append((member.name, member.nameLocation))
        }
        return true
    }

    private mutating func readPatternProperties(
        _ member: LocatedJSON.Member, into node: inout SchemaNode
    ) throws(SchemaError) -> Bool {
        guard let entries = member.value.members else { throw wrong(.patternProperties, member.value, "an object") }
        var patterns: [SchemaNode.PatternProperty] = []
        for entry in entries {
            patterns.append(.init(pattern: entry.name, node: try self.node(entry.value, below: .values)))
        }
        // If one pattern cannot be read, it is unknown which fields are additional, so no pattern is evaluated.
        var areReadable = true
        for entry in entries where !isReadable(entry.name, mode: .bytes, at: entry.nameLocation) { areReadable = false }
        if areReadable {
            node.constraints.patternProperties = patterns
        } else {
            node.unevaluated.append((member.name, member.nameLocation))
        }
        return true
    }
}

// MARK: enum, dependencies and combinations

extension AppServicesReader {
    private func readEnum(_ json: LocatedJSON, into node: inout SchemaNode) throws(SchemaError) -> Bool {
        guard case .array(let entries) = json.value else { throw wrong(.enum, json, "an array") }
        guard !entries.isEmpty else { return false }
        var values: [BSONValue] = []
        for entry in entries { values.append(try LocatedBSON(entry).bson) }
        node.constraints.allowedValues = values
        return true
    }

    private mutating func dependencies(_ json: LocatedJSON) throws(SchemaError) -> [Constraints.Dependency] {
        guard let members = json.members else { throw wrong(.dependencies, json, "an object") }
        var result: [Constraints.Dependency] = []
        for member in members {
            let demand: Constraints.Dependency.Demand =
                if member.value.members != nil {
                    .schema(try node(member.value))
                } else {
                    .fields(try names(member.value, of: .dependencies))
                }
            result.append(Constraints.Dependency(field: member.name, demand: demand))
        }
        return result
    }

    private mutating func readCombination(
        _ keyword: Keyword, _ json: LocatedJSON, into node: inout SchemaNode
    ) throws(SchemaError) -> Bool {
        guard let kind = Constraints.Combination.Kind(rawValue: keyword.rawValue) else { return false }
        var nodes: [SchemaNode] = []
        if kind == .not {
            nodes.append(try self.node(json))
        } else {
            guard case .array(let entries) = json.value else { throw wrong(keyword, json, "a list of schemas") }
            for entry in entries { nodes.append(try self.node(entry)) }
        }
        guard !nodes.isEmpty else { return false }
        node.constraints.combinations.append(Constraints.Combination(kind: kind, nodes: nodes))
        return true
    }
}
