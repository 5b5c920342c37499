import BSON

/// The keywords of arrays, of what a path leads to.
extension JSONWalker {
    func arrays(
        _ subject: PathValues, of view: borrowing BSONView, _ node: JSONSchemaPlan.Node, depth: Int
    ) throws(BSONError) -> [(Rule, Bool)] {
        guard node.arrays >= 0 else { return [] }
        let rule = arrayRules[Int(node.arrays)]
        var (isLong, isShort, isUnique, itemsFit, othersFit) = (false, false, false, false, false)
        var tuple = [Bool](repeating: false, count: Int(rule.tupleCount))
        for element in subject.whole where element.type == .array {
            let array = try view.document(element)
            var (count, allFit, allOthersFit) = (0, true, true)
            var position = array.firstPosition
            while let child = try array.next(&position) {
                var quiet = QuickSink()
                if rule.items >= 0 {
                    if try !value(child, of: array, node: Int(rule.items), depth: depth, into: &quiet) {
                        allFit = false
                    }
                } else if count < tuple.count {
                    let entry = Int(rule.firstInTuple) + count
                    if try value(child, of: array, node: entry, depth: depth, into: &quiet) { tuple[count] = true }
                } else if rule.additional.isForbidden {
                    allOthersFit = false
                } else if rule.additional.isRestricted,
                    try !value(child, of: array, node: Int(rule.additional.node), depth: depth, into: &quiet)
                {
                    allOthersFit = false
                }
                count += 1
            }
            // An array that is too short for an entry satisfies it.
            for missing in count..<max(count, tuple.count) { tuple[missing] = true }
            isLong = isLong || count >= rule.minimum
            isShort = isShort || count <= rule.maximum
            if !isUnique { isUnique = try !ValueSet.hasDuplicates(array) }
            itemsFit = itemsFit || allFit
            othersFit = othersFit || allOthersFit
        }
        let keywords = [
            (Rule.tooFewItems, rule.minimum > 0, isLong), (.tooManyItems, rule.maximum < .max, isShort),
            (.itemsNotUnique, rule.isUnique, isUnique), (.arrayItemType, rule.items >= 0, itemsFit),
            (.arrayItemType, !tuple.isEmpty, tuple.allSatisfy(\.self)),
            (.additionalItem, rule.additional.isRestricted, othersFit),
        ]
        return keywords.filter(\.1).map { ($0.0, restricted(.array, subject, node, $0.2)) }
    }
}
