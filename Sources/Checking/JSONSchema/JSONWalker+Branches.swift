import BSON
import ServerSchema

/// Explains why a value fits none of the schemas of `anyOf` or `oneOf`, by the schema that the value selects.
///
/// The findings are those that the selected schema would have alone. The verdict does not depend on them.
extension JSONWalker {
    /// Reports the findings of the schema that the value's type selects, or a field for which each schema allows only
    /// one value; or that this field selects none.
    /// - Returns: Whether the value is explained; if not, nothing is reported.
    @inline(never)
    func explain<Sink: FindingSink>(
        _ combination: JSONSchemaPlan.Combination, _ subject: JSONSubject, of view: borrowing BSONView, depth: Int,
        into sink: inout Sink
    ) throws(BSONError) -> Bool {
        guard combination.kind == .oneOf || combination.kind == .anyOf else { return false }
        if case .path = subject { return false }
        let type = TypeMask(subject.found.type)
        let members = Int(combination.first)..<Int(combination.first &+ combination.count)
        var selected = members.filter { nodes[$0].accepts.contains(type) }
        // A value of a wrong type is meant for the only schema that allows more than null.
        if selected.isEmpty { selected = members.filter { nodes[$0].accepts != .null } }
        if selected.count > 1, type == .object {
            let fields = if case .element(let element) = subject { try view.document(element) } else { copy view }
            var fitting: [Int] = []
            for member in selected where try isSelected(member, by: fields) { fitting.append(member) }
            let shared = selectors.indices.first {
                members.contains(Int(selectors[$0].member)) && selectors[$0].discriminator >= 0
            }
            if fitting.isEmpty, let shared {
                let (selector, node) = (selectors[shared], Int(selectors[shared].discriminator))
                guard let element = try fields.find(selector.name) else {
                    return selector.isRequired || !fail(.requiredMissing, node: node, .missing, into: &sink)
                }
                sink.visit(at: element, of: fields)
                return !fail(.notInEnum, node: node, Found(element.type), into: &sink)
            }
            selected = fitting
        }
        guard selected.count == 1 else { return false }
        return try !judge(subject, of: view, node: selected[0], depth: depth, into: &sink)
    }

    /// Whether an object has all values that select the schema, and the schema has at least one such value.
    private func isSelected(_ member: Int, by fields: borrowing BSONView) throws(BSONError) -> Bool {
        var isSelected = false
        for index in selectors.indices where Int(selectors[index].member) == member {
            let allowed = allowedValues[Int(selectors[index].allowed)].view
            var position = allowed.firstPosition
            guard let element = try fields.find(selectors[index].name), let other = try allowed.next(&position),
                try fields.isEqual(element, to: other, of: allowed)
            else { return false }
            isSelected = true
        }
        return isSelected
    }
}
