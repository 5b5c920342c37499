import BSON
import ServerSchema

/// Judges the constraints of an App Services schema, such as `minimum`, with the walker of the `jsonschema` dialect.
///
/// Their findings are only *possible* because no documentation says that the translator checks constraints. The nodes
/// of the constraints have the numbers after those of the schema's nodes.
extension CompiledSchema {
    static func constraints(of schema: CollectionSchema) -> JSONSchemaPlan? {
        guard schema.dialect == .appServices, let root = schema.root.constraintsAlone else { return nil }
        var plan = JSONSchemaCompiler(root: root).plan
        // Sync writes null for every unset field, so it accepts null whatever the constraints of a value say.
        for index in plan.nodes.indices where plan.isOfValue(index) { plan.nodes[index].plain.insert(.null) }
        return plan
    }

    func breaksConstraints(_ document: borrowing BSONView) throws(BSONError) -> Bool {
        guard let constraints else { return false }
        var sink = QuickSink()
        return try !JSONWalker(constraints).object(document, node: 0, depth: 0, into: &sink)
    }

    func collectConstraints(
        _ document: borrowing BSONView, into collector: inout FindingCollector
    ) throws(BSONError) {
        guard let constraints else { return }
        collector.firstConstraint = Int32(nodes.count)
        defer { collector.firstConstraint = nil }
        _ = try JSONWalker(constraints).object(document, node: 0, depth: 0, into: &collector)
    }

    /// Returns a finding of a constraint with its node number in the plan of the constraints; `nil` for other findings.
    func constraint(_ located: FindingCollector.Located) -> FindingCollector.Located? {
        guard constraints != nil, Int(located.finding.node) >= nodes.count else { return nil }
        var result = located
        result.finding.node -= Int32(nodes.count)
        return result
    }

    /// Returns the public name of a finding's rule, which differs for constraints.
    func code(of located: FindingCollector.Located) -> RuleCode {
        let code = located.finding.rule.code
        return constraint(located) == nil || code == .additionalProperty ? code : code.ofConstraint
    }
}

extension JSONSchemaPlan {
    /// Whether `properties`, `additionalProperties` or `items` describe the value of a node, and not only a constraint.
    fileprivate func isOfValue(_ index: Int) -> Bool {
        switch origins[index].step {
        case .root: false
        case .property, .additional, .items, .tuple:
            origins[index].parent == 0 || isOfValue(Int(origins[index].parent))
        case .pattern, .additionalItems, .combination, .dependency: false
        }
    }
}
