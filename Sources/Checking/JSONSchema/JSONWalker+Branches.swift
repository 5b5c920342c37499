import BSON
import ServerSchema

/// Explains why a value fits none of the schemas of `anyOf` or `oneOf`, by the schema that the value selects.
///
/// The findings are those that the selected schema would have alone. The verdict does not depend on them.
extension JSONWalker {
    /// Reports the findings of the schema that the value's type selects, or a field for which each schema allows only
    /// one value.
    /// - Returns: Whether a schema is selected; if not, nothing is reported.
    @inline(never)
    func explain<Sink: FindingSink>(
        _ combination: JSONSchemaPlan.Combination, _ subject: JSONSubject, of view: borrowing BSONView, depth: Int,
        into sink: inout Sink
    ) throws(BSONError) -> Bool {
        if case .path = subject { return false }
        let type = TypeMask(subject.found.type)
        let members = Int(combination.first)..<Int(combination.first &+ combination.count)
        var selected = members.filter { nodes[$0].accepts.contains(type) }
        // A value of a wrong type is meant for the only schema that allows more than null.
        if selected.isEmpty { selected = members.filter { nodes[$0].accepts != .null } }
        guard selected.count > 1, type == .object else {
            guard selected.count == 1 else { return false }
            return try !judge(subject, of: view, node: selected[0], depth: depth, into: &sink)
        }
        guard case .element(let element) = subject else {
            return try explain(combination, selected, subject, of: view, with: view, depth: depth, into: &sink)
        }
        let fields = try view.document(element)
        return try explain(combination, selected, subject, of: view, with: fields, depth: depth, into: &sink)
    }

    /// Reports the findings of the schema that the fields of an object select, or that the fields select none.
    private func explain<Sink: FindingSink>(
        _ combination: JSONSchemaPlan.Combination, _ members: [Int], _ subject: JSONSubject,
        of view: borrowing BSONView, with fields: borrowing BSONView, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        var selected: [Int] = []
        for member in members where try isSelected(member, of: combination, by: fields) { selected.append(member) }
        if selected.count == 1 {
            return try !judge(subject, of: view, node: selected[0], depth: depth, into: &sink)
        }
        let node = Int(combination.discriminator)
        guard selected.isEmpty, node >= 0 else { return false }
        if let element = try fields.find(selectors[Int(combination.discriminatorSelector)].name) {
            sink.visit(at: element, of: fields)
            _ = fail(.notInEnum, node: node, Found(element.type), into: &sink)
        } else if !combination.isDiscriminatorRequired {
            _ = fail(.requiredMissing, node: node, .missing, into: &sink)
        }
        return true
    }

    /// Whether an object has all values that select the schema, and the schema has at least one such value.
    private func isSelected(
        _ member: Int, of combination: JSONSchemaPlan.Combination, by fields: borrowing BSONView
    ) throws(BSONError) -> Bool {
        var isSelected = false
        for offset in 0..<Int(combination.selectorCount) {
            let selector = selectors[Int(combination.firstSelector) + offset]
            guard Int(selector.member) == member else { continue }
            let allowed = allowedValues[Int(selector.allowed)].view
            var position = allowed.firstPosition
            guard let element = try fields.find(selector.name), let other = try allowed.next(&position),
                try fields.isEqual(element, to: other, of: allowed)
            else { return false }
            isSelected = true
        }
        return isSelected
    }
}
