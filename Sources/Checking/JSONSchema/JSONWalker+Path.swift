import BSON
import Patterns
import ServerSchema

/// Checks all values at a path together, for names that mongod treats as paths; see ``JSONSchemaPlan/PathField``.
///
/// mongod turns each keyword into a separate expression over the path. A keyword holds if one of the values satisfies
/// it, and different values may satisfy different keywords. Source: `makeRestriction` in mongod 6.0.
extension JSONWalker {
    func path<Sink: FindingSink>(
        _ subject: PathValues, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let node = nodes[index]
        let found = JSONSubject.path(subject).found
        var fits = true
        if node.isStated, !subject.whole.contains(where: { node.accepts.contains(TypeMask($0.type)) }) {
            fits = fail(.typeMismatch, node: index, found, into: &sink)
        }
        var keywords = try scalars(subject, of: view, node: node)
        keywords += try arrays(subject, of: view, node, depth: depth)
        keywords += try objects(subject, of: view, node, depth: depth)
        for (rule, holds) in keywords where !holds { fits = fail(rule, node: index, found, into: &sink) }
        if node.objects >= 0, try !pathDependencies(subject, of: view, node: index, depth: depth, into: &sink) {
            fits = false
        }
        guard node.values >= 0 else { return fits }
        return try values(.path(subject), of: view, node: index, depth: depth, into: &sink) && fits
    }

    /// Returns whether a keyword that restricts only values of `types` holds for the values at a path.
    /// - Parameter isSatisfied: Whether at least one of the values satisfies the keyword.
    func restricted(
        _ types: TypeMask, _ subject: PathValues, _ node: JSONSchemaPlan.Node, _ isSatisfied: Bool
    ) -> Bool {
        if node.isStated, node.isSingle { return node.accepts.isDisjoint(with: types) || isSatisfied }
        return isSatisfied || !subject.whole.contains { types.contains(TypeMask($0.type)) }
    }

    private func scalars(
        _ subject: PathValues, of view: borrowing BSONView, node: JSONSchemaPlan.Node
    ) throws(BSONError) -> [(Rule, Bool)] {
        var result: [(Rule, Bool)] = []
        if node.numbers >= 0 {
            let rule = numberRules[Int(node.numbers)]
            let numbers = subject.traversed.compactMap { view.number($0) }
            let keywords = [
                (Rule.belowMinimum, rule.minimum != nil, numbers.contains { rule.isAtLeastMinimum($0) }),
                (.aboveMaximum, rule.maximum != nil, numbers.contains { rule.isAtMostMaximum($0) }),
                (.notMultipleOf, rule.divisor != nil, numbers.contains { rule.isMultiple($0) }),
            ]
            for (code, isThere, holds) in keywords where isThere {
                result.append((code, restricted(.numbers, subject, node, holds)))
            }
        }
        guard node.strings >= 0 else { return result }
        let rule = stringRules[Int(node.strings)]
        let lengths = subject.traversed.filter { $0.type == .string }.map { Self.length(of: $0, in: view) }
        if rule.minimum > 0 {
            result.append((.tooShort, restricted(.string, subject, node, lengths.contains { $0 >= rule.minimum })))
        }
        if rule.maximum < .max {
            result.append((.tooLong, restricted(.string, subject, node, lengths.contains { $0 <= rule.maximum })))
        }
        guard rule.pattern >= 0 else { return result }
        var matches = false
        for element in subject.traversed where !matches {
            matches = try self.matches(Int(rule.pattern), element, of: view)
        }
        result.append((.patternMismatch, restricted(.string, subject, node, matches)))
        return result
    }

    /// Whether a value is a text that matches the pattern, or is itself a regular expression with the same pattern and
    /// without options.
    private func matches(
        _ pattern: Int, _ element: BSONElement, of view: borrowing BSONView
    ) throws(BSONError) -> Bool {
        switch element.type {
        case .string, .symbol:
            try matches(pattern, view, at: element.valueOffset + 4, length: element.valueLength - 5)
        case .regex: try view.value(element) == .regex(pattern: patterns[pattern].text, options: "")
        default: false
        }
    }
}

/// Checks the values at a path against the keywords of arrays.
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
            // An array that is too short to have an element at an index satisfies the tuple's schema for that index.
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

/// Checks the values at a path against the keywords of objects.
extension JSONWalker {
    func objects(
        _ subject: PathValues, of view: borrowing BSONView, _ node: JSONSchemaPlan.Node, depth: Int
    ) throws(BSONError) -> [(Rule, Bool)] {
        guard node.objects >= 0 else { return [] }
        let rule = objectRules[Int(node.objects)]
        var (isLarge, isSmall, propertiesHold, othersHold, requiredHold) = (false, false, false, false, false)
        for element in subject.whole where element.type == .object {
            let object = try view.document(element)
            let count = try count(object)
            isLarge = isLarge || count >= rule.minimum
            isSmall = isSmall || count <= rule.maximum
            if !propertiesHold { propertiesHold = try self.propertiesHold(object, rule, depth: depth) }
            if !othersHold { othersHold = try self.othersHold(object, rule, depth: depth) }
            if !requiredHold { requiredHold = try self.requiredHold(object, rule) }
        }
        let hasRequired = rule.hasRequired || hasRequiredPath(rule)
        let keywords = [
            (Rule.embeddedNotObject, rule.range.count > 0 || rule.pathCount > 0, propertiesHold),
            (.additionalProperty, rule.restrictsOthers, othersHold), (.requiredMissing, hasRequired, requiredHold),
            (.tooFewProperties, rule.minimum > 0, isLarge), (.tooManyProperties, rule.maximum < .max, isSmall),
        ]
        return keywords.filter(\.1).map { ($0.0, restricted(.object, subject, node, $0.2)) }
    }

    private func count(_ view: borrowing BSONView) throws(BSONError) -> Int {
        var (position, count) = (view.firstPosition, 0)
        while try view.next(&position) != nil { count += 1 }
        return count
    }

    /// Whether the fields of one object at a path fit their schemas in `properties`.
    ///
    /// mongod tests `required` separately, and any object at the path can satisfy it. If this object lacks a required
    /// field, the field's schema is still applied, to an empty list of values, as in mongod.
    private func propertiesHold(
        _ view: borrowing BSONView, _ rule: JSONSchemaPlan.ObjectRule, depth: Int
    ) throws(BSONError) -> Bool {
        var quiet = QuickSink()
        for offset in 0..<Int(rule.range.count) {
            let field = fields[Int(rule.range.first) + offset]
            guard field.node >= 0 else { continue }
            if let element = try first(offset, in: view, rule) {
                guard try value(element, of: view, node: Int(field.node), depth: depth, into: &quiet) else {
                    return false
                }
            } else if field.isRequired {
                guard try path(PathValues(), of: view, node: Int(field.node), depth: depth, into: &quiet) else {
                    return false
                }
            }
        }
        for offset in 0..<Int(rule.pathCount) {
            let field = paths[Int(rule.firstPath) + offset]
            let values = try PathValues(field.components, in: view)
            guard field.node >= 0, values.exist || field.isRequired else { continue }
            let subject = field.judgesWhole ? JSONSubject.whole : .path(values)
            guard try judge(subject, of: view, node: Int(field.node), depth: depth, into: &quiet) else { return false }
        }
        return true
    }

    private func othersHold(
        _ view: borrowing BSONView, _ rule: JSONSchemaPlan.ObjectRule, depth: Int
    ) throws(BSONError) -> Bool {
        var quiet = QuickSink()
        var position = view.firstPosition
        while let element = try view.next(&position) {
            let found = lookup.position(of: element, in: view, among: rule.range, expected: 0)
            let isDeclared = found >= 0 && fields[Int(rule.range.first) + found].isDeclared
            guard
                try other(element, of: view, rule, node: 0, isDeclared: isDeclared, depth: depth, into: &quiet)
            else { return false }
        }
        return true
    }

    private func requiredHold(
        _ view: borrowing BSONView, _ rule: JSONSchemaPlan.ObjectRule
    ) throws(BSONError) -> Bool {
        for offset in 0..<Int(rule.range.count) where fields[Int(rule.range.first) + offset].isRequired {
            guard try first(offset, in: view, rule) != nil else { return false }
        }
        for offset in 0..<Int(rule.pathCount) {
            let field = paths[Int(rule.firstPath) + offset]
            if field.isRequired, try !PathValues(field.components, in: view).exist { return false }
        }
        return true
    }

    private func hasRequiredPath(_ rule: JSONSchemaPlan.ObjectRule) -> Bool {
        for offset in 0..<Int(rule.pathCount) where paths[Int(rule.firstPath) + offset].isRequired { return true }
        return false
    }

    /// Checks the objects at a path against `dependencies`.
    ///
    /// For each entry, mongod tests separately whether an object has the entry's field, and whether an object satisfies
    /// what the entry requires. Two different objects can pass these two tests.
    private func pathDependencies<Sink: FindingSink>(
        _ subject: PathValues, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let rule = objectRules[Int(nodes[index].objects)]
        var fits = true
        for offset in 0..<Int(rule.dependencyCount) {
            let dependency = dependencies[Int(rule.firstDependency) + offset]
            guard try anObject(of: subject, in: view, has: dependency.field) else { continue }
            for field in dependency.fields where try !anObject(of: subject, in: view, has: field.components) {
                fits = fail(.dependencyMissing, node: index, .missing, into: &sink)
            }
            guard dependency.node >= 0 else { continue }
            if try !path(subject, of: view, node: Int(dependency.node), depth: depth, into: &sink) {
                fits = fail(.dependencySchema, node: index, Found(.object), into: &sink)
            }
        }
        return fits
    }

    private func anObject(
        of subject: PathValues, in view: borrowing BSONView, has path: [String]
    ) throws(BSONError) -> Bool {
        for element in subject.whole where element.type == .object {
            if try PathValues(path, in: view.document(element)).exist { return true }
        }
        return false
    }
}
