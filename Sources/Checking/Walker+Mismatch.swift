import BSON

extension Walker {
    /// Says what it means that a value is of a type that its node does not name.
    @inline(never)
    func mismatch<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) {
        let node = nodes[index]
        let type = TypeMask(element.type)
        let found = Found(element.type)
        if node.place == .id {
            // The client has one integer type, so `int` and `long` name the same.
            if TypeMask.integers.contains(type), !node.accepts.isDisjoint(with: .integers) { return }
            return sink.report(Finding(.idTypeMismatch, .certain, node: index, found))
        }
        if TypeMask.deprecated.contains(type) {
            return sink.report(Finding(.undefinedValue, .certain, node: index, found))
        }
        let key = keyRule(node.flags)
        // Keys are compared by type, save that the client's one integer type stands for two.
        let comparable: TypeMask = key == nil ? .numbers : .integers
        if comparable.contains(type), !node.accepts.isDisjoint(with: comparable) {
            return sink.report(numericMismatch(element, of: view, node: index))
        }
        if let key { return sink.report(Finding(key, .certain, node: index, found)) }
        let rule: Rule =
            switch node.place {
            case .element: type == .array ? .arrayNested : .arrayItemType
            case .dictionaryValue: .dictionaryValueType
            case .root, .id, .field:
                node.accepts == .object ? .embeddedNotObject : node.accepts == .array ? .arrayNotArray : .typeMismatch
            }
        sink.report(Finding(rule, .certain, node: index, found))
    }

    /// The rule for another type where the value is a key: the partition's, or that of a linked document.
    func keyRule(_ flags: CompiledSchema.Flags) -> Rule? {
        flags.contains(.partition) ? .partitionType : flags.contains(.link) ? .linkType : nil
    }

    /// Judges a number where the schema names only other numeric types: by the mildest of them.
    private func numericMismatch(_ element: BSONElement, of view: borrowing BSONView, node index: Int) -> Finding {
        let number = Number(element, of: view)
        var best: Finding?
        for target: TypeMask in [.decimal, .double, .long, .int]
        where nodes[index].accepts.contains(target) {
            let detail = number.fitness(for: target)
            let (rule, level): (Rule, Level) =
                switch detail {
                case .exact: (.numericWidthMismatch, .possible)
                case .beyondInt32: (.numericLossy, .possible)
                default: (.numericLossy, .certain)
                }
            let finding = Finding(rule, level, node: index, Found(element.type, detail))
            if let held = best, (held.level, held.rule.rawValue) <= (level, rule.rawValue) { continue }
            best = finding
        }
        return best ?? Finding(.typeMismatch, .certain, node: index, Found(element.type))
    }
}
