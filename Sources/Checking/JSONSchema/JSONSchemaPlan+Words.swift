import BSON
import ServerSchema

extension JSONSchemaPlan {
    /// What the schema wants where a finding is, in words.
    func expectation(of finding: Finding) -> String {
        let schema = origins[Int(finding.node)].schema
        let constraints = schema.constraints
        func text(_ value: BSONValue?) -> String { value.flatMap { try? $0.extendedJSON(.relaxed) } ?? "a number" }
        switch finding.rule {
        case .belowMinimum:
            return (constraints.isMinimumExclusive ? "more than " : "at least ") + text(constraints.minimum)
        case .aboveMaximum:
            return (constraints.isMaximumExclusive ? "less than " : "at most ") + text(constraints.maximum)
        case .notMultipleOf: return "a multiple of \(text(constraints.multipleOf))"
        case .tooShort: return "at least \(constraints.minLength ?? 0) characters"
        case .tooLong: return "at most \(constraints.maxLength ?? 0) characters"
        case .patternMismatch: return "a match of \(constraints.pattern ?? "")"
        case .notInEnum: return "one of \(constraints.allowedValues?.count ?? 0) values"
        case .tooFewItems: return "at least \(constraints.minItems ?? 0) elements"
        case .tooManyItems: return "at most \(constraints.maxItems ?? 0) elements"
        case .itemsNotUnique: return "distinct elements"
        case .additionalItem: return "no further elements"
        case .tooFewProperties: return "at least \(constraints.minProperties ?? 0) fields"
        case .tooManyProperties: return "at most \(constraints.maxProperties ?? 0) fields"
        case .additionalProperty: return "no such field"
        case .dependencyMissing: return "the field that another one asks for"
        case .dependencySchema: return "what a field asks of the object"
        case .allOf, .anyOf, .oneOf, .not: return expectation(of: finding.rule, constraints)
        case .encryptMismatch: return "encrypted data"
        default: return schema.expectation()
        }
    }

    private func expectation(of rule: Rule, _ constraints: Constraints) -> String {
        func count(_ kind: Constraints.Combination.Kind) -> Int {
            constraints.combinations.first { $0.kind == kind }?.nodes.count ?? 0
        }
        return switch rule {
        case .allOf: "all of \(count(.allOf)) schemas"
        case .anyOf: "any of \(count(.anyOf)) schemas"
        case .oneOf: "exactly one of \(count(.oneOf)) schemas"
        default: "not what the schema excludes"
        }
    }
}
