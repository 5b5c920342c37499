import BSON
import ServerSchema

/// The keywords of objects, of what a path leads to.
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

    /// Whether the object's fields fit what `properties` says of them.
    ///
    /// The schema of a required field is asked even when the field is missing: `required` may be satisfied by another
    /// object.
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

    /// The dependencies, each part of which may be satisfied by another object.
    func pathDependencies<Sink: FindingSink>(
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
