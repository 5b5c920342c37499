import BSON
import ServerSchema

/// Judges a document by an ``EnginePlan``, usually in one traversal, and reports to a sink the rules of the engine that
/// the document breaks.
///
/// The walker allocates nothing for most documents. The arrays of the plan are borrowed as spans.
struct EngineWalker: ~Escapable {
    private let tests: Span<EnginePlan.ValueTest>
    let fields: Span<EnginePlan.Field>
    let lookup: FieldLookup
    let range: FieldRange
    let facts: Span<EnginePlan.Facts>
    private let limits: Span<EnginePlan.Limit>
    let watched: TypeMask
    let quick: TypeMask
    let levels: Int
    let (earliest, latest): (Int64, Int64)
    private let wantsInfo: Bool
    private let judgesNames: Bool
    let judgesText: Bool
    private let root: Int

    @_lifetime(borrow plan)
    @inline(__always)
    init(_ plan: borrowing EnginePlan, wantsInfo: Bool = false) {
        tests = wantsInfo ? plan.tests.span : plan.tests.span.extracting(first: plan.seriousTestCount)
        fields = plan.fields.span
        lookup = FieldLookup(plan.table)
        range = plan.range
        facts = plan.allFacts.span
        limits = plan.limits.span
        self.wantsInfo = wantsInfo
        levels = min(plan.facts.mostLevels, BSONView.maximumDepth)
        (earliest, latest) = (plan.facts.earliest, plan.facts.latest)
        judgesNames = plan.facts[.lostNames] != nil
        judgesText = plan.facts[.invalidName] != nil
        watched = wantsInfo ? plan.facts.watched.union(plan.facts.watchedForInfo) : plan.facts.watched
        quick = wantsInfo ? [] : plan.facts.quick
        root = plan.firstNode
    }

    func document(_ view: borrowing BSONView, into sink: inout some FindingSink) throws(BSONError) {
        var progress = Progress(position: view.firstPosition)
        while true {
            pass(&progress, of: view)
            guard let element = try view.step(&progress.position) else { break }
            try field(element, of: view, &progress, into: &sink)
        }
        if let rule = facts[0][.unreadable], try !view.isReadableByScript(as: .value) {
            sink.report(Finding(rule, .certain, node: root, Found(.object, .unreadable)))
        }
        if judgesNames, progress.count > SeenNames.most { try names(of: view, into: &sink) }
        if progress.count &- 1 > facts[0].mostFields { report(.fields, .moreFields, into: &sink) }
        if view.byteCount > facts[0].harmlessSize { try reportSize(of: view, into: &sink) }
        if wantsInfo { try reportAbsentLists(in: view, into: &sink) }
    }

    /// Judges a top-level field that may break a rule.
    @inline(never)
    private func field(
        _ element: BSONElement, of view: borrowing BSONView, _ progress: inout Progress,
        into sink: inout some FindingSink
    ) throws(BSONError) {
        progress.count &+= 1
        let type = TypeMask(element.type)
        let key = FieldKey(view.bytes, at: element.nameOffset, length: element.nameLength)
        let isNew = progress.count <= SeenNames.most && progress.seen.insert(SeenNames.mark(of: key))
        if judgesNames, progress.count <= SeenNames.most, !isNew { try name(element, of: view, into: &sink) }
        if judgesText { invalidName(element, of: view, into: &sink) }
        let found = progress.known < fields.count || !isNew ? lookup.search(key, in: view.bytes, among: range) : -1
        if found >= 0 {
            (progress.expected, progress.known) = (found &+ 1, progress.known &+ (isNew ? 1 : 0))
            if !fields[found].plain.contains(type) { try field(element, found, of: view, into: &sink) }
        } else if facts[0].reserves(key) {
            report(.reservedPrefix, .none, at: element, of: view, into: &sink)
        }
        if watched.contains(type), !isPassing(element, of: view, levels: levels) {
            try top(element, of: view, into: &sink)
        }
    }

    /// Reports the limits on a measure that are smaller than `size`.
    /// - Returns: Whether there is such a limit.
    @discardableResult
    private func report(
        _ measure: EngineRule.Measure, over size: Int = .max, _ detail: Found.Detail, _ type: BSONType = .object,
        node: Int? = nil, into sink: inout some FindingSink
    ) -> Bool {
        var isOver = false
        for index in limits.indices where limits[index].measure == measure && limits[index].most < size {
            sink.report(Finding(limits[index].rule, limits[index].level, node: node ?? root, Found(type, detail)))
            isOver = true
        }
        return isOver
    }

    private func report(
        _ trait: EngineRule.Trait, _ detail: Found.Detail, at element: BSONElement, of view: borrowing BSONView,
        into sink: inout some FindingSink
    ) {
        guard let rule = facts[0][trait] else { return }
        sink.enter(field: element, of: view)
        sink.report(Finding(rule, .certain, node: root, Found(element.type, detail)))
        sink.leave()
    }

    private func report(
        _ finding: Finding, at element: BSONElement, of view: borrowing BSONView, into sink: inout some FindingSink
    ) {
        sink.visit(at: element, of: view)
        sink.report(finding)
    }
}

// MARK: values

extension EngineWalker {
    /// Judges the value of a top-level field, and the values inside it.
    ///
    /// The caller passes only values of the types in ``watched``: a rule judges them, or they may contain values that a
    /// rule judges.
    @inline(never)
    private func top(_ element: BSONElement, of view: borrowing BSONView, into sink: inout some FindingSink)
        throws(BSONError)
    {
        sink.enter(field: element, of: view)
        let isTooDeep = try value(element, of: view, at: .top, depth: 0, into: &sink)
        // The finding has the path of the top-level field, because the path to the value itself is too long for a
        // report.
        if isTooDeep { report(.depth, .nestedDeeper, element.type, into: &sink) }
        sink.leave()
    }

    /// Judges a value and the values inside it.
    /// - Parameter depth: The number of levels between the value and its top-level field.
    /// - Returns: Whether the value is, or contains, an object or array that is nested too deep.
    private func value(
        _ element: BSONElement, of view: borrowing BSONView, at place: EngineRule.Places, depth: Int,
        into sink: inout some FindingSink
    ) throws(BSONError) -> Bool {
        let type = TypeMask(element.type)
        for index in tests.indices where tests[index].types.contains(type) {
            try judge(element, tests[index], of: view, at: place, into: &sink)
        }
        if type == .object || type == .array {
            return try content(of: try view.document(element), isArray: type == .array, depth: depth, into: &sink)
        }
        if type == .javascriptWithScope {
            // PowerSync counts the levels from the scope of a top-level field, and those of a nested one as those of an
            // object.
            return try content(of: try view.scope(element), isArray: false, depth: max(depth, 1), into: &sink)
        }
        return false
    }

    /// - Returns: Whether the object or array, or one inside it, is nested too deep.
    private func content(of view: borrowing BSONView, isArray: Bool, depth: Int, into sink: inout some FindingSink)
        throws(BSONError) -> Bool
    {
        if depth > facts[0].mostLevels { return true }
        guard depth <= BSONView.maximumDepth else { throw BSONError(.tooDeep, at: view.start) }
        var isTooDeep = false
        var position = view.firstPosition
        while let element = try view.step(&position) {
            let type = TypeMask(element.type)
            if judgesText, !isArray { invalidName(element, of: view, into: &sink) }
            // The values inside an object or array are judged one by one, so that no level reads all levels below it.
            guard watched.contains(type), !isPassing(element, of: view, levels: -1) else { continue }
            if isArray { sink.enter(.elements) } else { sink.enter(field: element, of: view) }
            if try value(element, of: view, at: .nested, depth: depth &+ 1, into: &sink) { isTooDeep = true }
            sink.leave()
        }
        return isTooDeep
    }

    @inline(__always)
    private func judge(
        _ element: BSONElement, _ test: EnginePlan.ValueTest, of view: borrowing BSONView, at place: EngineRule.Places,
        into sink: inout some FindingSink
    ) throws(BSONError) {
        guard test.places.contains(place) else { return }
        var found = Found(element.type)
        switch test.test {
        case .always: break
        case .nonFinite:
            let number = view.double(element)
            if number.isFinite { return }
            found.detail = number.isNaN ? .notANumber : .infinity
        case .dateOutside(let low, let high):
            let milliseconds = view.int64(element)
            if milliseconds >= low, milliseconds <= high { return }
            found.detail = .dateOutOfRange
        case .notUUID:
            if isUUID(element, of: view) { return }
            found = binary(element, of: view)
        case .legacyUUID:
            guard view.binarySubtype(element) == 3, view.binaryLength(element) == 16 else { return }
            found = binary(element, of: view)
        case .wrongLength:
            if view.hasRightLength(element, exactly: false) { return }
            found.detail = .wrongLength
        case .notUTF8:
            if try view.isUTF8(element) { return }
            found.detail = .invalidText
        }
        report(Finding(test.rule, test.level, node: root, found), at: element, of: view, into: &sink)
    }

    private func isUUID(_ element: BSONElement, of view: borrowing BSONView) -> Bool {
        view.binarySubtype(element) == 4 && view.binaryLength(element) == 16
    }

    private func binary(_ element: BSONElement, of view: borrowing BSONView) -> Found {
        Found(
            element.type, view.binaryLength(element) == 16 ? .sixteenBytes : .otherLength,
            subtype: view.binarySubtype(element))
    }
}

// MARK: fields

extension EngineWalker {
    /// Judges a top-level field if its value's type alone does not show that the engine accepts the value.
    @inline(never)
    private func field(
        _ element: BSONElement, _ index: Int, of view: borrowing BSONView, into sink: inout some FindingSink
    ) throws(BSONError) {
        let field = fields[index]
        let node = root &+ 1 &+ index
        let found: Found?
        switch field.kind {
        case .id: return try id(element, field, node: node, of: view, into: &sink)
        case .free: found = nil
        case .forbidden: found = Found(element.type)
        case .integer, .real, .text: found = lost(element, in: field.kind, of: view)
        case .property: return try property(element, field, node: node, of: view, into: &sink)
        }
        if let found {
            report(Finding(field.rule, field.level, node: node, found), at: element, of: view, into: &sink)
        } else if wantsInfo, TypeMask(element.type) == .string {
            let finding = Finding(.powersyncMapping, .info, node: node, Found(element.type, .number))
            report(finding, at: element, of: view, into: &sink)
        }
    }

    private func id(
        _ element: BSONElement, _ field: EnginePlan.Field, node: Int, of view: borrowing BSONView,
        into sink: inout some FindingSink
    ) throws(BSONError) {
        let type = TypeMask(element.type)
        let (rule, detail): (Rule?, Found.Detail) =
            if type == .null || type == .undefined {
                (facts[0][.nullID], .none)
            } else if let unreadable = facts[0][.unreadableID], try !view.isReadableByScript(element, as: .key) {
                (unreadable, .unreadable)
            } else { (view.isFalseInScript(element) ? facts[0][.falsyID] : nil, .falsy) }
        if let rule {
            sink.report(Finding(rule, .certain, node: node, Found(element.type, detail)))
        } else if !field.accepts.contains(type) {
            sink.report(Finding(field.rule, field.level, node: node, Found(element.type)))
        } else if facts[0].hasOnlyUUIDs, type == .binData, !isUUID(element, of: view) {
            sink.report(Finding(field.rule, field.level, node: node, binary(element, of: view)))
        }
        guard facts[0].limitsIDs else { return }
        let size =
            type == .string
            ? element.valueLength &- 5 : try JSONText.text(of: element, in: view)?.count ?? element.valueLength
        report(.idSize, over: size, .longer, element.type, node: node, into: &sink)
    }

    /// Returns a description of a value of which SQLite's CAST loses something in a column; `nil` if it loses nothing,
    /// or if another rule judges the value.
    private func lost(_ element: BSONElement, in column: EnginePlan.Field.Kind, of view: borrowing BSONView) -> Found? {
        let type = TypeMask(element.type)
        if type == .binData { return isUUID(element, of: view) ? binary(element, of: view) : nil }
        if TypeMask.numbers.contains(type) {
            let number = Number(element, of: view)
            var detail = number.fitness(for: column == .integer ? .long : .double)
            // SQLite receives a decimal as text. An `integer` column cuts text such as 1E+2 at the letter. A `real`
            // column reads text such as 0.1 as the nearest real, and text such as NaN as 0.
            if type == .decimal {
                let text = view.decimal(element).description
                if column == .integer, detail == .exact, text.utf8.contains(UInt8(ascii: "E")) { detail = .exponent }
                if column == .real {
                    let special = number.fitness(for: .long)
                    let isSpecial = special == .notANumber || special == .infinity
                    detail = isSpecial ? special : Double(text)?.isFinite ?? false ? .exact : .inexact
                }
            }
            let isNull = detail == .notANumber || detail == .infinity
            return detail == .exact || isNull && type == .double ? nil : Found(element.type, detail)
        }
        if type == .timestamp {
            // SQLite reads a number of more than 63 bits as a real, and casts that to the largest integer.
            let bits = UInt64(bitPattern: view.int64(element))
            if column != .real { return bits > Int64.max ? Found(element.type, .beyondInt64) : nil }
            return Double(exactly: bits) == nil ? Found(element.type, .inexact) : nil
        }
        if type == .string {
            return isNumber(view.stringBytes(element), isWhole: column == .integer)
                ? nil : Found(element.type, .notNumber)
        }
        return Found(element.type)
    }

    /// Whether SQLite's CAST reads the whole text as a number.
    ///
    /// Blanks around the number are allowed. With `isWhole`, the number must be a whole number of 64 bits. It may have
    /// a fraction of zeros, as in `5.00`.
    private func isNumber(_ text: RawSpan, isWhole: Bool) -> Bool {
        let words = text.decoded().utf8.split { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard words.count == 1, let word = words.first.map({ Substring($0) }) else { return false }
        if isWhole {
            let parts = word.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            return Int64(parts[0]) != nil && parts.dropFirst().allSatisfy { $0.utf8.allSatisfy { $0 == 0x30 } }
        }
        let isPlain = word.utf8.allSatisfy { $0 < 0x3A || $0 | 0x20 == UInt8(ascii: "e") }
        return isPlain && Double(word)?.isFinite ?? false
    }

    private func property(
        _ element: BSONElement, _ field: EnginePlan.Field, node: Int, of view: borrowing BSONView,
        into sink: inout some FindingSink
    ) throws(BSONError) {
        let type = TypeMask(element.type)
        if TypeMask.deprecated.contains(type), type != .javascriptWithScope { return }
        guard field.accepts.contains(type) else {
            // ObjectBox's documentation does not say whether ObjectBox converts between number types, such as from
            // double to int. A value of another number type is therefore only a possible finding.
            let isConvertible = TypeMask.numbers.contains(type) && !field.accepts.isDisjoint(with: .numbers)
            let finding = Finding(
                field.rule, isConvertible ? .possible : field.level, node: node, Found(element.type))
            return report(finding, at: element, of: view, into: &sink)
        }
        if TypeMask.integers.contains(type) {
            let value = type == .int ? Int64(view.int32(element)) : view.int64(element)
            guard value < field.low || value > field.high else { return }
            let finding = Finding(field.rule, field.level, node: node, Found(element.type, .numberOutOfRange))
            return report(finding, at: element, of: view, into: &sink)
        }
        guard type == .array, let rule = facts[0][.elements] else { return }
        let array = try view.document(element)
        var position = array.firstPosition
        sink.enter(.elements)
        while let item = try array.next(&position) {
            guard !field.elements.contains(TypeMask(item.type)) else { continue }
            report(Finding(rule, field.level, node: node, Found(item.type)), at: item, of: array, into: &sink)
        }
        sink.leave()
    }
}

// MARK: names

extension EngineWalker {
    /// JavaScript sets the prototype of the row in place of a field `__proto__`, and keeps the last field of a name.
    @inline(never)
    private func name(_ element: BSONElement, of view: borrowing BSONView, into sink: inout some FindingSink)
        throws(BSONError)
    {
        if view.nameBytes(element).isEqual(to: "__proto__") {
            if element.type != .null { report(.lostNames, .prototypeName, at: element, of: view, into: &sink) }
            return
        }
        var position = view.firstPosition
        var last: BSONElement?
        while let other = try view.next(&position), other.nameOffset < element.nameOffset {
            if view.nameBytes(other).isEqual(to: view.nameBytes(element)) { last = other }
        }
        if let last, last.type != .null { report(.lostNames, .repeatedName, at: last, of: view, into: &sink) }
    }

    /// Judges the names of a document that has too many for ``SeenNames``.
    @inline(never)
    private func names(of view: borrowing BSONView, into sink: inout some FindingSink) throws(BSONError) {
        var hashes: Set<Int> = []
        var (position, count) = (view.firstPosition, 0)
        while let element = try view.next(&position) {
            count += 1
            var hasher = Hasher()
            view.nameBytes(element).hash(into: &hasher)
            let isNew = hashes.insert(hasher.finalize()).inserted
            if count > SeenNames.most, !isNew || view.nameBytes(element).isEqual(to: "__proto__") {
                try name(element, of: view, into: &sink)
            }
        }
    }

    @inline(never)
    private func invalidName(_ element: BSONElement, of view: borrowing BSONView, into sink: inout some FindingSink) {
        if !view.nameBytes(element).isUTF8 { report(.invalidName, .invalidName, at: element, of: view, into: &sink) }
    }
}

// MARK: the document as a whole

extension EngineWalker {
    @inline(never)
    private func reportSize(of view: borrowing BSONView, into sink: inout some FindingSink) throws(BSONError) {
        // The finding has the path of the largest field, because a repair changes that.
        var largest: BSONElement?
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if element.valueLength > largest?.valueLength ?? 0 { largest = element }
        }
        guard let largest else { return }
        sink.enter(field: largest, of: view)
        defer { sink.leave() }
        report(.size, over: view.byteCount, .larger, largest.type, into: &sink)
        guard view.byteCount > facts[0].leastRowSize else { return }
        let row = try JSONText.rowSize(of: view)
        if !report(.rowUnits, over: row.units, .largerAsJSON, largest.type, into: &sink) {
            report(.rowBytes, over: row.bytes, .largerAsJSON, largest.type, into: &sink)
        }
    }

    @inline(never)
    private func reportAbsentLists(in view: borrowing BSONView, into sink: inout some FindingSink) throws(BSONError) {
        guard let rule = facts[0][.absentList] else { return }
        for index in fields.indices where fields[index].isList {
            var (position, isAbsent) = (view.firstPosition, true)
            while let element = try view.next(&position) {
                if lookup.position(of: element, in: view, among: range, expected: index) == index { isAbsent = false }
            }
            if isAbsent { sink.report(Finding(rule, .info, node: root &+ 1 &+ index, .missing)) }
        }
    }
}
