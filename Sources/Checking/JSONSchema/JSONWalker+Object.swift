import BSON
import ServerSchema

extension JSONWalker {
    /// Judges an object's fields by the keywords of objects.
    func fields<Sink: FindingSink>(
        of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        guard depth <= BSONView.maximumDepth else { throw BSONError(.tooDeep, at: view.start) }
        let number = nodes[index].objects
        guard number >= 0 else { return true }
        if objectRules[Int(number)].range.count <= FewMarks.capacity {
            var seen = FewMarks()
            return try fields(of: view, node: index, depth: depth, marking: &seen, into: &sink)
        }
        return try manyFields(of: view, node: index, depth: depth, into: &sink)
    }

    @inline(never)
    private func manyFields<Sink: FindingSink>(
        of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        var seen = ManyMarks(objectRules[Int(nodes[index].objects)].range.count)
        return try fields(of: view, node: index, depth: depth, marking: &seen, into: &sink)
    }

    // Neither this nor what it calls now and then is in line elsewhere: only a small loop takes in the search for names.
    @inline(never)
    private func fields<Sink: FindingSink>(
        of view: borrowing BSONView, node index: Int, depth: Int, marking seen: inout some FieldMarks,
        into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let rule = objectRules[Int(nodes[index].objects)]
        var fits = true
        var count = 0
        var expected = 0
        var found = -1
        var position = view.firstPosition
        while let element = try lookup.next(
            &position, in: view, among: rule.range, expected: expected, found: &found)
        {
            count &+= 1
            var isDeclared = false
            if found >= 0 {
                expected = found &+ 1
                let field = fields[Int(rule.range.first) &+ found]
                isDeclared = field.isDeclared
                // Of a name that repeats, `properties` sees the first field only.
                if seen.insert(found), field.node >= 0,
                    try !value(element, of: view, node: Int(field.node), depth: depth, into: &sink)
                {
                    fits = false
                }
            }
            if rule.restrictsOthers,
                try !other(element, of: view, rule, node: index, isDeclared: isDeclared, depth: depth, into: &sink)
            {
                fits = false
            }
            if !fits, Sink.stopsAtFirst { return false }
        }
        if rule.hasRequired, !required(rule, seen: seen, into: &sink) { fits = false }
        if count < rule.minimum { fits = fail(.tooFewProperties, node: index, Found(.object), into: &sink) }
        if count > rule.maximum { fits = fail(.tooManyProperties, node: index, Found(.object), into: &sink) }
        guard rule.pathCount > 0 || rule.dependencyCount > 0, fits || !Sink.stopsAtFirst else { return fits }
        let pathsFit = try paths(of: view, rule, depth: depth, into: &sink)
        guard pathsFit || !Sink.stopsAtFirst else { return false }
        return try dependencies(of: view, node: index, depth: depth, into: &sink) && pathsFit && fits
    }

    private func required<Sink: FindingSink>(
        _ rule: JSONSchemaPlan.ObjectRule, seen: some FieldMarks, into sink: inout Sink
    ) -> Bool {
        var fits = true
        for offset in 0..<Int(rule.range.count) {
            let field = fields[Int(rule.range.first) &+ offset]
            guard field.isRequired, !seen.contains(offset) else { continue }
            fits = fail(.requiredMissing, node: Int(field.place), .missing, into: &sink)
            if Sink.stopsAtFirst { return false }
        }
        return fits
    }

    /// The first field of that name.
    @inline(never)
    func first(
        _ field: Int, in view: borrowing BSONView, _ rule: JSONSchemaPlan.ObjectRule
    ) throws(BSONError) -> BSONElement? {
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if lookup.position(of: element, in: view, among: rule.range, expected: field) == field { return element }
        }
        return nil
    }

    /// Judges a field by the patterns that match its name, and by `additionalProperties` where nothing names it.
    @inline(never)
    func other<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, _ rule: JSONSchemaPlan.ObjectRule, node index: Int,
        isDeclared: Bool, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        var fits = true
        var isNamed = isDeclared
        for offset in 0..<Int(rule.patternCount) {
            let entry = patternFields[Int(rule.firstPattern) &+ offset]
            guard try matches(Int(entry.pattern), view, at: element.nameOffset, length: element.nameLength) else {
                continue
            }
            isNamed = true
            if try !value(element, of: view, node: Int(entry.node), depth: depth, into: &sink) { fits = false }
            if !fits, Sink.stopsAtFirst { return false }
        }
        guard !isNamed, rule.additional.isRestricted else { return fits }
        if rule.additional.isForbidden {
            sink.report(
                Finding(.additionalProperty, .certain, node: index, Found(element.type)), extra: element, of: view)
            return false
        }
        return try value(element, of: view, node: Int(rule.additional.node), depth: depth, into: &sink) && fits
    }
}

// MARK: paths and dependencies

extension JSONWalker {
    @inline(never)
    func paths<Sink: FindingSink>(
        of view: borrowing BSONView, _ rule: JSONSchemaPlan.ObjectRule, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        var fits = true
        for offset in 0..<Int(rule.pathCount) {
            let field = paths[Int(rule.firstPath) &+ offset]
            let values = try PathValues(field.components, in: view)
            if !values.exist {
                if field.isRequired { fits = fail(.requiredMissing, node: Int(field.place), .missing, into: &sink) }
            } else if field.judgesWhole {
                if try !object(view, node: Int(field.node), depth: depth, into: &sink) { fits = false }
            } else if field.node >= 0 {
                if try !path(values, of: view, node: Int(field.node), depth: depth, into: &sink) { fits = false }
            }
            if !fits, Sink.stopsAtFirst { return false }
        }
        return fits
    }

    @inline(never)
    func dependencies<Sink: FindingSink>(
        of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let rule = objectRules[Int(nodes[index].objects)]
        var fits = true
        for offset in 0..<Int(rule.dependencyCount) {
            let dependency = dependencies[Int(rule.firstDependency) &+ offset]
            guard try PathValues(dependency.field, in: view).exist else { continue }
            for field in dependency.fields where try !PathValues(field.components, in: view).exist {
                sink.enter(.field(field.name))
                fits = fail(.dependencyMissing, node: index, .missing, into: &sink)
                sink.leave()
                if Sink.stopsAtFirst { return false }
            }
            guard dependency.node >= 0 else { continue }
            if try !object(view, node: Int(dependency.node), depth: depth, into: &sink) {
                fits = fail(.dependencySchema, node: index, Found(.object), into: &sink)
                if Sink.stopsAtFirst { return false }
            }
        }
        return fits
    }
}
