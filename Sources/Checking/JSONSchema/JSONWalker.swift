import BSON
import Patterns
import ServerSchema

/// Judges a document by a ``JSONSchemaPlan``, and reports its findings to a sink.
///
/// The arrays of the plan are borrowed as spans, so that the walker neither retains nor releases them. If the sink
/// needs only the verdict, the walker ends at the first finding.
struct JSONWalker: ~Escapable {
    let nodes: Span<JSONSchemaPlan.Node>
    let fields: Span<JSONSchemaPlan.Field>
    let lookup: FieldLookup
    let numberRules: Span<NumberRule>
    let stringRules: Span<JSONSchemaPlan.StringRule>
    let arrayRules: Span<JSONSchemaPlan.ArrayRule>
    let objectRules: Span<JSONSchemaPlan.ObjectRule>
    let valueRules: Span<JSONSchemaPlan.ValueRule>
    let patterns: Span<Pattern>
    let patternFields: Span<JSONSchemaPlan.PatternField>
    let paths: Span<JSONSchemaPlan.PathField>
    let dependencies: Span<JSONSchemaPlan.Dependency>
    let combinations: Span<JSONSchemaPlan.Combination>
    let selectors: Span<JSONSchemaPlan.Selector>
    let allowedValues: Span<BSONDocument>
    let allowedHashes: Span<UInt64>

    @_lifetime(borrow plan)
    @inline(__always)
    init(_ plan: borrowing JSONSchemaPlan) {
        nodes = plan.nodes.span
        fields = plan.fields.span
        lookup = FieldLookup(plan.table)
        numberRules = plan.numberRules.span
        stringRules = plan.stringRules.span
        arrayRules = plan.arrayRules.span
        objectRules = plan.objectRules.span
        valueRules = plan.valueRules.span
        patterns = plan.patterns.span
        patternFields = plan.patternFields.span
        paths = plan.paths.span
        dependencies = plan.dependencies.span
        combinations = plan.combinations.span
        selectors = plan.selectors.span
        allowedValues = plan.allowed.holders.span
        allowedHashes = plan.allowed.hashes.span
    }

    /// Judges one value by a node of the schema, and returns whether it fits.
    @inline(__always)
    func value<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        if nodes[index].plain.contains(TypeMask(element.type)) { return true }
        return try inspectClosely(element, of: view, node: index, depth: depth, into: &sink)
    }

    @inline(never)
    func inspectClosely<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let node = nodes[index]
        let type = TypeMask(element.type)
        sink.visit(at: element, of: view)
        guard node.accepts.contains(type) else {
            let rule: Rule =
                node.values >= 0 && valueRules[Int(node.values)].isEncrypted ? .encryptMismatch : .typeMismatch
            return fail(rule, node: index, Found(element.type), into: &sink)
        }
        var fits = true
        if type == .object {
            let content = try view.document(element)
            fits = try fields(of: content, node: index, depth: depth &+ 1, into: &sink)
        } else if type == .array, node.arrays >= 0 {
            fits = try array(try view.document(element), node: index, depth: depth &+ 1, into: &sink)
        } else if type == .string, node.strings >= 0 {
            fits = try string(element, of: view, node: index, into: &sink)
        } else if node.numbers >= 0, let number = view.number(element) {
            fits = self.number(number, Found(element.type), node: index, into: &sink)
        }
        guard node.values >= 0, fits || !Sink.stopsAtFirst else { return fits }
        return try values(.element(element), of: view, node: index, depth: depth, into: &sink) && fits
    }

    /// Judges the object in the view as a whole, for example a document, and returns whether it fits.
    func object<Sink: FindingSink>(
        _ view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let node = nodes[index]
        guard node.accepts.contains(.object) else {
            return fail(.typeMismatch, node: index, Found(.object), into: &sink)
        }
        let fits = try fields(of: view, node: index, depth: depth, into: &sink)
        guard node.values >= 0, fits || !Sink.stopsAtFirst else { return fits }
        return try values(.whole, of: view, node: index, depth: depth, into: &sink) && fits
    }

    /// Reports a finding, and returns `false`, because the value does not fit.
    @inline(__always)
    func fail<Sink: FindingSink>(_ rule: Rule, node: Int, _ found: Found, into sink: inout Sink) -> Bool {
        sink.report(Finding(rule, .certain, node: node, found))
        return false
    }
}

// MARK: keywords for scalars

extension JSONWalker {
    @inline(never)
    func number<Sink: FindingSink>(
        _ number: BSONNumber, _ found: Found, node index: Int, into sink: inout Sink
    ) -> Bool {
        let rule = numberRules[Int(nodes[index].numbers)]
        var fits = true
        if !rule.isAtLeastMinimum(number) { fits = fail(.belowMinimum, node: index, found, into: &sink) }
        if !rule.isAtMostMaximum(number) { fits = fail(.aboveMaximum, node: index, found, into: &sink) }
        if !rule.isMultiple(number) { fits = fail(.notMultipleOf, node: index, found, into: &sink) }
        return fits
    }

    @inline(never)
    func string<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) throws(BSONError) -> Bool {
        let rule = stringRules[Int(nodes[index].strings)]
        let found = Found(element.type)
        var fits = true
        if rule.minimum > 0 || rule.maximum < .max {
            let length = Self.length(of: element, in: view)
            if length < rule.minimum { fits = fail(.tooShort, node: index, found, into: &sink) }
            if length > rule.maximum { fits = fail(.tooLong, node: index, found, into: &sink) }
        }
        guard rule.pattern >= 0, fits || !Sink.stopsAtFirst else { return fits }
        let matches = try matches(
            Int(rule.pattern), view, at: element.valueOffset &+ 4, length: element.valueLength &- 5)
        return matches ? fits : fail(.patternMismatch, node: index, found, into: &sink)
    }

    /// Returns the number of code points in a string: the number of bytes that are not UTF-8 continuation bytes.
    static func length(of element: BSONElement, in view: borrowing BSONView) -> Int64 {
        var count: Int64 = 0
        for offset in element.valueOffset &+ 4..<element.valueOffset &+ element.valueLength &- 1 {
            let byte = unsafe view.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
            if byte & 0xC0 != 0x80 { count &+= 1 }
        }
        return count
    }

    func matches(
        _ pattern: Int, _ view: borrowing BSONView, at start: Int, length: Int
    ) throws(BSONError) -> Bool {
        do throws(PatternError) {
            return try patterns[pattern].matches(view.bytes, at: start, length: length)
        } catch {
            throw BSONError(.undecided, at: start, detail: "the pattern \"\(patterns[pattern].text)\": \(error)")
        }
    }
}

extension JSONWalker {
    /// Judges an object by the keywords of objects, and returns whether it fits.
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

    // This function and the rarely needed functions that it calls are not inlined, so that its loop stays small. The
    // compiler inlines the search for names only into a small loop.
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
                // If a name is repeated, `properties` judges only the first field of that name.
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

    /// Returns the first element whose name is that of the field at the index `field`; `nil` if there is none.
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

    /// Judges a field by the patterns that match its name, or by `additionalProperties` if no keyword names the field.
    /// - Returns: Whether the field fits.
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
