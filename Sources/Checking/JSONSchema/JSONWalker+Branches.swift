import BSON
import ServerSchema

/// Explains why a value fits none of the schemas of `anyOf` or `oneOf`, by the schema that the value selects.
///
/// A schema is selected by the value's type, or by a field for which each schema allows only one value. The findings are
/// those that the selected schema would have alone. The verdict does not depend on them.
extension JSONWalker {
    /// Reports the findings of the selected schema.
    /// - Returns: Whether a schema is selected; if not, nothing is reported.
    @inline(never)
    func explain<Sink: FindingSink>(
        _ combination: JSONSchemaPlan.Combination, _ subject: JSONSubject, of view: borrowing BSONView,
        node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        if case .path = subject { return false }
        let type = TypeMask(subject.found.type)
        let members = Int(combination.first)..<Int(combination.first &+ combination.count)
        let accepting = members.filter { nodes[$0].accepts.contains(type) }
        if accepting.isEmpty {
            // A value of a wrong type is meant for the only schema that allows more than null.
            let meant = members.filter { nodes[$0].accepts != .null }
            guard meant.count == 1 else { return false }
            return try !judge(subject, of: view, node: meant[0], depth: depth, into: &sink)
        }
        if accepting.count == 1 {
            return try !judge(subject, of: view, node: accepting[0], depth: depth, into: &sink)
        }
        guard type == .object else { return false }
        if case .element(let element) = subject {
            let content = try view.document(element)
            return try explain(combination, accepting, subject, of: view, content, depth: depth, into: &sink)
        }
        return try explain(combination, accepting, subject, of: view, view, depth: depth, into: &sink)
    }

    /// Reports the findings of the schema that the fields of an object select.
    /// - Parameters:
    ///   - accepting: The schemas that accept objects.
    ///   - content: The fields of the object, which is `subject` in `view`.
    private func explain<Sink: FindingSink>(
        _ combination: JSONSchemaPlan.Combination, _ accepting: [Int], _ subject: JSONSubject,
        of view: borrowing BSONView, _ content: borrowing BSONView, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        var selected: [Int] = []
        for member in accepting where try isSelected(member, of: combination, by: content) { selected.append(member) }
        if selected.count == 1 {
            return try !judge(subject, of: view, node: selected[0], depth: depth, into: &sink)
        }
        guard selected.isEmpty, combination.discriminator >= 0 else { return false }
        return try explain(discriminatorOf: combination, in: content, into: &sink)
    }

    /// Reports a field whose value selects no schema.
    private func explain<Sink: FindingSink>(
        discriminatorOf combination: JSONSchemaPlan.Combination, in content: borrowing BSONView, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let node = Int(combination.discriminator)
        if let element = try content.find(selectors[Int(combination.discriminatorSelector)].name) {
            sink.visit(at: element, of: content)
            _ = fail(.notInEnum, node: node, Found(element.type), into: &sink)
        } else if !combination.isDiscriminatorRequired {
            _ = fail(.requiredMissing, node: node, .missing, into: &sink)
        }
        return true
    }

    /// Whether an object has all values that select the schema, and the schema has at least one such value.
    private func isSelected(
        _ member: Int, of combination: JSONSchemaPlan.Combination, by content: borrowing BSONView
    ) throws(BSONError) -> Bool {
        var isSelected = false
        for offset in 0..<Int(combination.selectorCount) {
            let selector = selectors[Int(combination.firstSelector) + offset]
            guard Int(selector.member) == member else { continue }
            guard let element = try content.find(selector.name) else { return false }
            let allowed = allowedValues[Int(selector.allowed)].view
            var position = allowed.firstPosition
            guard let other = try allowed.next(&position),
                try content.isEqual(element, to: other, of: allowed)
            else { return false }
            isSelected = true
        }
        return isSelected
    }
}
