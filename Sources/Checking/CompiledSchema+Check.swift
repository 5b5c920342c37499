public import BSON
import ServerSchema

extension CompiledSchema {
    /// Checks a document, and returns its worst finding as a verdict.
    ///
    /// Usually allocates nothing; see ``CompiledSchema``.
    /// - Throws: ``BSONError`` if the check reaches damaged bytes; it reads only the bytes that the schema requires.
    public func check(_ document: borrowing BSONView) throws(BSONError) -> Verdict {
        let verdict = try checkSchema(document)
        return hasEngine ? try checkEngine(document, verdict) : verdict
    }

    @inline(__always)
    private func checkSchema(_ document: borrowing BSONView) throws(BSONError) -> Verdict {
        if hasJSONSchema, let jsonSchema {
            var sink = QuickSink()
            return try JSONWalker(jsonSchema).object(document, node: 0, depth: 0, into: &sink) ? .fits : .certain
        }
        var sink = VerdictSink()
        try Walker(walkPlan).document(document, into: &sink)
        return try verdict(sink.verdict, of: document)
    }

    /// Checks a document and validates all its bytes, in one traversal if possible.
    /// - Throws: ``BSONError`` as ``BSONView/validate()`` does, or else as ``check(_:)`` does.
    public func validate(_ document: borrowing BSONView) throws(BSONError) -> Verdict {
        guard !hasJSONSchema else {
            try document.validate()
            return try check(document)
        }
        var sink = ValidatingSink()
        do throws(BSONError) {
            try Walker(walkPlan).document(document, into: &sink)
        } catch {
            // The walker may have found other damage than `validate()` reports; callers get the error of `validate()`.
            try document.validate()
            throw error
        }
        let verdict = try verdict(sink.verdict, of: document)
        return hasEngine ? try checkEngine(document, verdict) : verdict
    }

    @inline(__always)
    private func verdict(_ walked: Verdict, of document: borrowing BSONView) throws(BSONError) -> Verdict {
        if hasConstraints, walked < .possible, try breaksConstraints(document) { return .possible }
        return walked
    }

    /// Lists the violations of a document; slower than ``check(_:)``, and meant for documents that do not fit.
    /// - Parameter includingInfo: Whether to list findings of the level ``Level/info`` too.
    /// - Throws: ``BSONError`` as ``check(_:)`` does.
    public func violations(
        in document: borrowing BSONView, includingInfo: Bool
    ) throws(BSONError) -> [Violation] {
        var collector = FindingCollector(minimum: includingInfo ? .info : .warning)
        try collect(document, into: &collector)
        return collector.located.map(violation)
    }

    func collect(_ document: borrowing BSONView, into collector: inout FindingCollector) throws(BSONError) {
        if let jsonSchema {
            _ = try JSONWalker(jsonSchema).object(document, node: 0, depth: 0, into: &collector)
        } else {
            try Walker(walkPlan).document(document, into: &collector)
            try collectConstraints(document, into: &collector)
        }
        try collectEngine(document, into: &collector)
    }

    /// Turns a finding of the schema into a violation, with the path and the words that reports show.
    func violation(_ located: FindingCollector.Located) -> Violation {
        let finding = located.finding
        return Violation(
            path: path(of: located), rule: code(of: located), level: finding.level,
            expected: expectation(of: located),
            found: finding.found.description)
    }

    private func expectation(of located: FindingCollector.Located) -> String {
        let finding = located.finding
        if let expected = engineExpectation(of: located) { return expected }
        if let key = uniqueKey(of: located) { return key.expectation }
        if let jsonSchema { return jsonSchema.expectation(of: finding) }
        if finding.rule == .linkDangling,
            let relation = links.first(where: { $0.node == Int(finding.node) })?.relation
        {
            return "document of \(relation.target) for \(relation.name)"
        }
        if let constraints, let located = constraint(located) { return constraints.expectation(of: located.finding) }
        return finding.rule.expectation ?? texts.expectations[Int(finding.node)]
    }

    func path(of located: FindingCollector.Located) -> SchemaPath {
        let steps = (located.around + [located.finding.node]).flatMap { texts.paths[Int($0)].steps }
        return SchemaPath(steps + located.below)
    }

    /// Whether a value that is in no document, such as a default, would fit a node.
    ///
    /// A value that causes only possible findings fits, for example a number of another numeric type.
    func fits(_ value: BSONValue, node: Int) -> Bool {
        let holder = BSONDocument([("", value)])
        let view = holder.view
        var position = view.firstPosition
        var sink = VerdictSink()
        do throws(BSONError) {
            guard let element = try view.next(&position) else { return false }
            try Walker(walkPlan).value(element, of: view, node: node, depth: 0, into: &sink)
        } catch {
            return false
        }
        return sink.verdict < .certain
    }
}

/// Judges the constraints of an App Services schema, such as `minimum`, with the walker of the `jsonschema` dialect.
///
/// The findings are only *possible*, because no documentation says whether the sync engine checks constraints. In
/// findings, the node numbers of the constraints follow those of the schema's own nodes.
extension CompiledSchema {
    static func constraints(of schema: CollectionSchema) -> JSONSchemaPlan? {
        guard schema.dialect == .appServices, let root = schema.root.constraintsAlone else { return nil }
        var plan = JSONSchemaCompiler(root: root, explainsBranches: false).plan
        // Sync writes null for every unset field, so it accepts null whatever the constraints of a value say.
        for index in plan.nodes.indices where plan.isOfValue(index) { plan.nodes[index].plain.insert(.null) }
        return plan
    }

    private func breaksConstraints(_ document: borrowing BSONView) throws(BSONError) -> Bool {
        guard let constraints else { return false }
        var sink = QuickSink()
        return try !JSONWalker(constraints).object(document, node: 0, depth: 0, into: &sink)
    }

    private func collectConstraints(
        _ document: borrowing BSONView, into collector: inout FindingCollector
    ) throws(BSONError) {
        guard let constraints else { return }
        collector.firstConstraint = Int32(nodes.count)
        defer { collector.firstConstraint = nil }
        _ = try JSONWalker(constraints).object(document, node: 0, depth: 0, into: &collector)
    }

    /// Returns the finding with the number that its node has in the plan ``constraints``.
    ///
    /// `nil` if the finding is not about a constraint.
    func constraint(_ located: FindingCollector.Located) -> FindingCollector.Located? {
        guard constraints != nil, Int(located.finding.node) >= nodes.count, engineRule(of: located) == nil else {
            return nil
        }
        var result = located
        result.finding.node -= Int32(nodes.count)
        return result
    }

    /// Returns the public name of a finding's rule; most rules have another name if they judge a constraint.
    func code(of located: FindingCollector.Located) -> RuleCode {
        let rule = located.finding.rule
        return constraint(located) == nil || rule == .additionalProperty ? rule.code : rule.code.ofConstraint
    }
}

extension JSONSchemaPlan {
    /// Whether a node below the root is reached only through `properties`, `additionalProperties` and `items`, and is
    /// not a part of a constraint.
    fileprivate func isOfValue(_ index: Int) -> Bool {
        switch origins[index].step {
        case .root: false
        case .property, .additional, .items, .tuple:
            origins[index].parent == 0 || isOfValue(Int(origins[index].parent))
        case .pattern, .additionalItems, .combination, .dependency: false
        }
    }
}

package struct LinkedKey: Hashable, Sendable {
    /// The index of the link among the schema's links.
    package let link: Int
    /// The key, which is compared with those of the documents in the link's target; an array if it is compound.
    package let key: IDKey
    package let type: BSONType
}

extension CompiledSchema {
    /// The documents that each of the schema's links leads to, in the order of the links.
    package var linkTargets: [LinkTarget] { links.map(\.target) }

    /// Returns the keys that a document's links hold, without nulls and without keys of a wrong type.
    ///
    /// A key of a wrong type has a finding already. A link that leads to a field other than `_id` is skipped, because
    /// such a link does not sync.
    /// - Throws: ``BSONError`` if the bytes on the path to a key are damaged.
    package func linkedKeys(of document: borrowing BSONView) throws(BSONError) -> [LinkedKey] {
        var result: [LinkedKey] = []
        for (number, link) in links.enumerated() {
            if let relation = link.relation {
                try collectKeys(document, relation, of: number, into: &result)
                continue
            }
            guard link.target.fields == ["_id"] else { continue }
            var keys: [BSONValue] = []
            try collectKeys(
                document, texts.paths[link.node].steps[...], accepting: nodes[link.node].accepts, into: &keys)
            result += keys.map { LinkedKey(link: number, key: IDKey($0), type: $0.type) }
        }
        return result
    }

    /// Adds the key of a Prisma relation or, if its field is a list, the keys.
    ///
    /// A key of which the client reads a part as null leads to no document. The client does not look it up.
    private func collectKeys(
        _ document: borrowing BSONView, _ relation: PrismaRelation, of link: Int, into result: inout [LinkedKey]
    ) throws(BSONError) {
        var (parts, type): ([BSONValue], BSONType) = ([], .null)
        for (index, field) in relation.fields.enumerated() {
            guard let element = try document.find(field) else { return }
            let value = try document.value(element)
            if case .array(let items) = value {
                for item in items.values {
                    guard let key = relation.written(item, at: index) else { continue }
                    result.append(LinkedKey(link: link, key: LinkTarget.key([key]), type: item.type))
                }
                return
            }
            guard let part = relation.written(value, at: index) else { return }
            parts.append(part)
            if texts.paths[links[link].node].steps.first == .field(field) { type = value.type }
        }
        result.append(LinkedKey(link: link, key: LinkTarget.key(parts), type: type))
    }

    private func collectKeys(
        _ view: borrowing BSONView, _ steps: ArraySlice<SchemaPath.Step>, accepting types: TypeMask,
        into keys: inout [BSONValue]
    ) throws(BSONError) {
        guard let step = steps.first else { return }
        let rest = steps.dropFirst()
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if case .field(let name) = step, !view.nameBytes(element).isEqual(to: name) { continue }
            let type = TypeMask(element.type)
            if rest.isEmpty {
                if types.contains(type), type != .null { keys.append(try view.value(element)) }
            } else if type == (rest.first == .elements ? .array : .object) {
                try collectKeys(try view.document(element), rest, accepting: types, into: &keys)
            }
        }
    }
}
