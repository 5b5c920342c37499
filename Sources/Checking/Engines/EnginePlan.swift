import BSON
import ServerSchema

/// The rules of a sync engine for the documents of one collection, compiled once for ``EngineWalker``.
struct EnginePlan: Sendable {
    let engine: Engine
    /// The tests of values, each for certain types; the tests of the level ``Level/info`` come last.
    private(set) var tests: [ValueTest] = []
    /// The number of tests of a higher level than ``Level/info``.
    private(set) var seriousTestCount = 0
    /// The rules for single top-level fields, in the order of the names in ``table``.
    ///
    /// The fields of the schema come first, with or without a rule, because most documents have them in that order.
    private(set) var fields: [Field] = []
    private(set) var table = FieldTable()
    private(set) var range = FieldRange()
    /// The only element is ``limits``: an array, so that the walker borrows it in place of a copy for each document.
    private(set) var allLimits = [Limits()]
    var limits: Limits {
        get { allLimits[0] }
        set { allLimits[0] = newValue }
    }
    /// The document size in bytes up to which the limits on the size need no check.
    ///
    /// The size relies on an estimate: the JSON text of a document is less than sixteen times as long as the
    /// document. A control character inside an object becomes seven characters, and an `_id` is written twice. The
    /// estimate fails only for a document with many top-level doubles of a hundred digits or more. The text of such
    /// a document can exceed its limit unnoticed.
    private(set) var harmlessSize = Int.max
    /// For each of ``fields``, a description of the value that the field must have, as reports show it.
    ///
    /// `nil` if reports show the description that the rule has.
    private(set) var expectations: [String?] = []
    /// The names of ``fields``, in the same order.
    private(set) var names: [String] = []
    /// The rule for two `_id`s with the same text; `nil` if the engine has none.
    private(set) var idText: Rule?
    /// The rule for documents that do not fit the schema; `nil` if the engine has none.
    private(set) var unfit: Rule?
    /// The lowest number of a node of this plan.
    ///
    /// This node represents the whole document. All lower numbers belong to the nodes of the schema.
    let firstNode: Int

    /// A test that applies to values of certain types at certain places in a document.
    struct ValueTest: Sendable, BitwiseCopyable {
        enum Kind: Sendable, BitwiseCopyable {
            case always, nonFinite, dateOutside, notUUID, legacyUUID, wrongLength, notUTF8
        }

        var kind: Kind
        var types: TypeMask
        var places: EngineRule.Places
        var rule: Rule
        var level: Level
        /// The range of the dates that pass, in milliseconds since 1970.
        var low: Int64 = .min
        var high: Int64 = .max
    }

    /// The rule for a top-level field.
    struct Field: Sendable, BitwiseCopyable {
        enum Kind: Sendable, BitwiseCopyable { case free, id, forbidden, text, integer, real, property }

        var kind: Kind
        var rule: Rule
        var level: Level
        /// The types whose values pass this rule without a check of the value itself.
        var plain: TypeMask
        /// The types whose values, if the field is `_id`, pass this rule if they are true in JavaScript.
        var trueTypes: TypeMask = []
        /// The types that the field may have.
        var accepts: TypeMask = .all
        /// The types of the elements that an array in the field may have.
        var elements: TypeMask = .all
        /// The range of the whole numbers that the field may hold.
        var low: Int64 = .min
        var high: Int64 = .max
        /// The mark of the field's name in ``SeenNames``.
        var mark: UInt16 = 0
        /// Whether the field is a list whose elements have a known type.
        ///
        /// If a document lacks the field, the client's property is null.
        var isList = false
    }

    /// The engine's limits for a document as a whole, and the types of values that need a test.
    struct Limits: Sendable, BitwiseCopyable {
        /// A limit, with the rule and the level of the finding about a document that exceeds it.
        struct Limit: Sendable, BitwiseCopyable {
            var most = Int.max
            var rule = Rule.anySize
            var level = Level.certain
        }

        /// The limits of the conditions of these names.
        var (depth, fields, size, rowUnits, rowBytes, idSize) = (
            Limit(), Limit(), Limit(), Limit(), Limit(), Limit()
        )
        /// The limit on the bytes of the document by a second, milder rule.
        var secondSize = Limit()
        /// The rules with the conditions of these names; `nil` if the engine has none.
        var (nullID, falsyID, unreadableID): (Rule?, Rule?, Rule?)
        var (unreadable, lostNames, text): (Rule?, Rule?, Rule?)
        /// The types of the values for which there are tests of a higher level than ``Level/info``.
        ///
        /// Objects, arrays and code with a scope are included if such a test also judges values inside them, or if the
        /// nesting has a limit.
        var watched: TypeMask = []
        /// The types of the values to test, in addition to those in ``watched``, if the user wants findings of the
        /// level ``Level/info``.
        var watchedForInfo: TypeMask = []
        /// The types of which a few comparisons show for most values that no test of a higher level than
        /// ``Level/info`` fails: a finite double, text of UTF-8, a date from ``earliest`` to ``latest``, and a UUID.
        var quick = TypeMask.all
        var (earliest, latest): (Int64, Int64) = (.min, .max)
        /// The marks of the names of all fields in the plan.
        var marks = SeenNames()
        /// Whether binary data as `_id` must be a UUID of subtype 4.
        var hasOnlyUUIDs = false
        /// The number of levels that an object or array in a top-level field may have.
        var levels: Int { min(depth.most, BSONView.maximumDepth) }
        /// The document size in bytes from which on its JSON text can exceed a limit.
        var leastRowSize: Int { min(rowUnits.most, rowBytes.most) / 16 }
    }

    /// Compiles the rules of a sync engine; returns `nil` for an engine without rules of its own, such as Device Sync.
    init?(_ settings: EngineSettings, for schema: CollectionSchema, firstNode: Int) {
        engine = settings.engine
        self.firstNode = firstNode
        let rules = EngineRule.all(of: engine)
        guard !rules.isEmpty else { return nil }
        for name in ["_id"] + schema.root.properties.map(\.name) {
            add(name, Field(kind: .free, rule: .anyType, level: .info, plain: .all))
        }
        for rule in rules { for condition in rule.conditions { add(condition, of: rule, settings, schema) } }
        range = table.append(names)
        compileWatched()
        harmlessSize = min(limits.size.most, limits.secondSize.most, limits.leastRowSize)
    }

    private mutating func add(
        _ condition: EngineRule.Condition, of rule: EngineRule, _ settings: EngineSettings, _ schema: CollectionSchema
    ) {
        let limit: (Int) -> Limits.Limit = { .init(most: $0, rule: rule.rule, level: rule.level) }
        func test(_ kind: ValueTest.Kind, _ types: TypeMask, _ places: EngineRule.Places = .anywhere) -> ValueTest {
            ValueTest(kind: kind, types: types, places: places, rule: rule.rule, level: rule.level)
        }
        switch condition {
        case .types(let types, let places): tests.append(test(.always, types, places))
        case .nonFinite(let places): tests.append(test(.nonFinite, .double, places))
        case .binary: tests.append(test(.notUUID, .binData))
        case .legacyUUID: tests.append(test(.legacyUUID, .binData))
        case .binaryLength: tests.append(test(.wrongLength, .binData))
        case .text:
            tests.append(test(.notUTF8, .texts))
            limits.text = rule.rule
        case .lostNames: limits.lostNames = rule.rule
        case .nullID: limits.nullID = rule.rule
        case .falsyID: limits.falsyID = rule.rule
        case .unreadableID: limits.unreadableID = rule.rule
        case .unreadable: limits.unreadable = rule.rule
        case .dates(let range):
            var dates = test(.dateOutside, .date)
            (dates.low, dates.high) = (range.lowerBound, range.upperBound)
            tests.append(dates)
        case .depth(let most): limits.depth = limit(most)
        case .size(let most) where limits.size.most == .max: limits.size = limit(most)
        case .size(let most): limits.secondSize = limit(most)
        case .rowUnits(let most): limits.rowUnits = limit(most)
        case .rowBytes(let most): limits.rowBytes = limit(most)
        case .fields(let most): limits.fields = limit(most)
        case .idSize(let most):
            limits.idSize = limit(most)
            addID(rule, accepting: .all, onlyUUIDs: false)
        case .id(let types, let onlyUUIDs): addID(rule, accepting: types, onlyUUIDs: onlyUUIDs)
        case .idText: idText = rule.rule
        case .schema: unfit = rule.rule
        case .names(let names):
            for name in names { add(name, Field(kind: .forbidden, rule: rule.rule, level: rule.level, plain: [])) }
        case .column:
            for column in settings.columns(of: schema) { add(column, rule) }
        case .property:
            for property in settings.model?[schema.namespace.collection]?.properties ?? [] { add(property, rule) }
        case .elements, .absentList: break
        }
    }

    private mutating func compileWatched() {
        tests = tests.filter { $0.level > .info } + tests.filter { $0.level == .info }
        seriousTestCount = tests.count { $0.level > .info }
        // The text of an `_id` is checked only for strings, objects and binary data. The text of another type, such as
        // a number, hardly ever exceeds a limit of hundreds of bytes.
        if limits.idSize.most < .max { fields[0].plain.subtract([.string, .object, .binData]) }
        if limits.unreadableID != nil {
            fields[0].trueTypes = fields[0].plain.intersection([.string, .int, .long])
            fields[0].plain.formIntersection([.objectId, .date, .timestamp, .decimal])
        }
        for index in fields.indices {
            fields[index].mark = SeenNames.mark(of: table.keys[index])
            _ = limits.marks.insert(fields[index].mark)
        }
        for test in tests {
            if test.level > .info { limits.watched.formUnion(test.types) }
            if test.level > .info, test.kind == .always { limits.quick.subtract(test.types) }
            limits.watchedForInfo.formUnion(test.types)
            (limits.earliest, limits.latest) = (max(limits.earliest, test.low), min(limits.latest, test.high))
        }
        let looksInside =
            limits.depth.most < .max || limits.text != nil
            || tests.contains { $0.level > .info && $0.places.contains(.nested) }
        if looksInside { limits.watched.formUnion([.object, .array, .javascriptWithScope]) }
        if tests.contains(where: { $0.places.contains(.nested) }) {
            limits.watchedForInfo.formUnion([.object, .array, .javascriptWithScope])
        }
    }
}

// MARK: fields

extension EnginePlan {
    /// Adds the rule for a field.
    ///
    /// Does nothing if the field's name is empty or already has a rule; `_id`, for example, may already have one.
    private mutating func add(_ name: String, _ field: Field, expected: String? = nil) {
        guard !name.isEmpty else { return }
        if let index = names.firstIndex(of: name) {
            if fields[index].kind == .free { (fields[index], expectations[index]) = (field, expected) }
            return
        }
        names.append(name)
        fields.append(field)
        expectations.append(expected)
    }

    private mutating func addID(_ rule: EngineRule, accepting types: TypeMask, onlyUUIDs: Bool) {
        if onlyUUIDs { limits.hasOnlyUUIDs = true }
        if fields[0].kind == .id { return fields[0].plain.formIntersection(types) }
        var field = Field(kind: .id, rule: rule.rule, level: rule.level, plain: types, accepts: types)
        if onlyUUIDs { field.plain.remove(.binData) }
        add("_id", field)
    }

    private mutating func add(_ column: ClientTable.Column, _ rule: EngineRule) {
        let plain: TypeMask = [.null, .undefined, .minKey, .maxKey, .int, .bool]
        let (kind, types, article): (Field.Kind, TypeMask, String) =
            switch column.type {
            // A text column can hold any value as text, except a timestamp of more than 63 bits, which SQLite reads
            // from JSON as a real.
            case .text: (.text, .all.subtracting(.timestamp), "a")
            case .integer: (.integer, plain.union(.long), "an")
            case .real: (.real, plain.union(.double), "a")
            }
        add(
            column.name, Field(kind: kind, rule: rule.rule, level: rule.level, plain: types),
            expected: "value that \(article) \(column.type) column holds")
    }

    private mutating func add(_ property: ObjectBoxModel.Property, _ rule: EngineRule) {
        let values = property.values
        var field = Field(kind: .property, rule: rule.rule, level: rule.level, plain: [.null], accepts: values.types)
        field.elements = values.elements
        if let range = values.range { (field.low, field.high) = (range.lowerBound, range.upperBound) }
        field.isList = values.types == .array && values.elements != .all
        var checked: TypeMask = values.range == nil ? [] : .integers
        if values.elements != .all { checked.insert(.array) }
        field.plain.formUnion(values.types.subtracting(checked))
        add(property.fieldName, field, expected: "value of the type \(property.typeName)")
    }
}
