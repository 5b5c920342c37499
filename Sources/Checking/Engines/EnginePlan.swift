import BSON
import ServerSchema

/// The rules of a sync engine for the documents of one collection, compiled once for ``EngineWalker``.
struct EnginePlan: Sendable {
    /// The tests of values; the tests of the level ``Level/info`` come last.
    private(set) var tests: [ValueTest] = []
    /// The number of tests of a higher level than ``Level/info``.
    private(set) var seriousTestCount = 0
    /// The rules for single top-level fields, in the order of the names in ``table``.
    ///
    /// The fields of the schema come first, with or without a rule, because most documents have them in that order.
    private(set) var fields: [Field] = []
    private(set) var table = FieldTable()
    private(set) var range = FieldRange()
    private(set) var limits: [Limit] = []
    /// The only element is ``facts``: an array, so that the walker borrows it in place of a copy for each document.
    private(set) var allFacts = [Facts()]
    var facts: Facts {
        get { allFacts[0] }
        set { allFacts[0] = newValue }
    }
    /// For each of ``fields``, a description of the value that the field must have, as reports show it.
    ///
    /// `nil` if reports show the description that the rule has.
    private(set) var expectations: [String?] = []
    /// The names of ``fields``, in the same order.
    private(set) var names: [String] = []
    /// The lowest number of a node of this plan.
    ///
    /// This node represents the whole document. All lower numbers belong to the nodes of the schema.
    let firstNode: Int

    struct ValueTest: Sendable, BitwiseCopyable {
        var test: EngineRule.Test
        var types: TypeMask
        var places: EngineRule.Places
        var rule: Rule
        var level: Level
    }

    struct Limit: Sendable, BitwiseCopyable {
        var measure: EngineRule.Measure
        var most: Int
        var rule: Rule
        var level: Level
    }

    struct Field: Sendable, BitwiseCopyable {
        enum Kind: Sendable, BitwiseCopyable { case free, id, forbidden, text, integer, real, property }

        var kind: Kind
        var rule: Rule
        var level: Level
        /// The types whose values pass this rule without a check of the value itself.
        var plain: TypeMask
        /// The types whose values, if the field is `_id`, pass this rule if they are true in JavaScript.
        var trueTypes: TypeMask = []
        var accepts: TypeMask = .all
        /// The types of the elements that an array in the field may have.
        var elements: TypeMask = .all
        var low: Int64 = .min
        var high: Int64 = .max
        /// The mark of the field's name in ``SeenNames``.
        var mark: UInt16 = 0
        /// Whether the field is a list whose elements have a known type.
        var isList = false
    }

    /// The facts about the plan that decide how the walker reads a document.
    struct Facts: Sendable, BitwiseCopyable {
        /// The rules with a trait as condition, by the trait; `nil` for a trait that the engine does not mind.
        private var rules = InlineArray<11, Rule?>(repeating: nil)
        /// The types of the values for which there are tests of a higher level than ``Level/info``.
        ///
        /// Objects, arrays and code with a scope are included if such a test also judges values inside them, or if the
        /// nesting has a limit.
        var watched: TypeMask = []
        /// The types of the values to test in addition if the user wants findings of the level ``Level/info``.
        var watchedForInfo: TypeMask = []
        /// The types of which a few comparisons show for most values that no test of a higher level than
        /// ``Level/info`` fails: a finite double, text of UTF-8, a date from ``earliest`` to ``latest``, and a UUID.
        var quick = TypeMask.all
        var (earliest, latest): (Int64, Int64) = (.min, .max)
        var marks = SeenNames()
        /// The reserved prefix of names and the bits of a name's head that it has; no name has the prefix 1 in no bits.
        var (prefix, prefixBits): (UInt64, UInt64) = (1, 0)
        /// Whether binary data as `_id` must be a UUID of subtype 4.
        var hasOnlyUUIDs = false
        /// The number of levels that a top-level field may have below it, and of fields that a document may have.
        var (mostLevels, mostFields) = (Int.max, Int.max)
        /// The document size in bytes from which on its JSON text can exceed a limit.
        ///
        /// This is an estimate: the JSON text of a document is less than sixteen times as long as the document. A
        /// control character inside an object becomes seven characters, and an `_id` is written twice. The estimate
        /// fails only for a document with many top-level doubles of a hundred digits or more. The text of such a
        /// document can exceed its limit unnoticed.
        var leastRowSize = Int.max
        /// The document size in bytes up to which the limits on the size need no check.
        var harmlessSize = Int.max

        var limitsIDs = false

        @inline(__always)
        func reserves(_ name: FieldKey) -> Bool { name.head & prefixBits == prefix }

        subscript(trait: EngineRule.Trait) -> Rule? {
            get { rules[trait.rawValue] }
            set { rules[trait.rawValue] = newValue }
        }
    }

    /// Compiles the rules of a sync engine; returns `nil` for an engine without rules of its own, such as Device Sync.
    init?(_ settings: EngineSettings, for schema: CollectionSchema, firstNode: Int) {
        self.firstNode = firstNode
        let rules = EngineRule.all(of: settings.engine)
        guard !rules.isEmpty else { return nil }
        for name in ["_id"] + schema.root.properties.map(\.name) {
            add(name, Field(kind: .free, rule: .anyType, level: .info, plain: .all))
        }
        for rule in rules { for condition in rule.conditions { add(condition, of: rule, settings, schema) } }
        range = table.append(names)
        for index in fields.indices {
            fields[index].mark = SeenNames.mark(of: table.keys[index])
            _ = facts.marks.insert(fields[index].mark)
        }
        summarizeLimits()
        summarizeTests()
    }

    private mutating func add(
        _ condition: EngineRule.Condition, of rule: EngineRule, _ settings: EngineSettings, _ schema: CollectionSchema
    ) {
        switch condition {
        case .value(let test, let types, let places):
            tests.append(ValueTest(test: test, types: types, places: places, rule: rule.rule, level: rule.level))
        case .over(let measure, let most):
            limits.append(Limit(measure: measure, most: most, rule: rule.rule, level: rule.level))
            if measure == .idSize { addID(rule, accepting: .all, onlyUUIDs: false) }
        case .has(let trait): facts[trait] = rule.rule
        case .id(let types, let onlyUUIDs): addID(rule, accepting: types, onlyUUIDs: onlyUUIDs)
        case .names(let names, let prefix):
            let prefixed = schema.root.properties.map(\.name).filter { !prefix.isEmpty && $0.hasPrefix(prefix) }
            for name in names + prefixed {
                add(name, Field(kind: .forbidden, rule: rule.rule, level: rule.level, plain: []))
            }
            guard !prefix.isEmpty else { break }
            facts.prefix = prefix.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }
            facts.prefixBits = .max >> UInt64(64 - 8 * prefix.utf8.count)
            facts[.reservedPrefix] = rule.rule
        case .column:
            for (name, type) in settings.columns(of: schema) { addColumn(name, type, rule) }
        case .property:
            for property in settings.model?[schema.namespace.collection]?.properties ?? [] { add(property, rule) }
        }
    }

    private mutating func summarizeLimits() {
        for limit in limits {
            switch limit.measure {
            case .depth: facts.mostLevels = limit.most
            case .fields: facts.mostFields = limit.most
            case .size: facts.harmlessSize = min(facts.harmlessSize, limit.most)
            case .rowUnits, .rowBytes: facts.leastRowSize = min(facts.leastRowSize, limit.most / 16)
            // The text of an `_id` is checked only for strings, objects and binary data. The text of another type, such
            // as a number, hardly ever exceeds a limit of hundreds of bytes.
            case .idSize:
                facts.limitsIDs = true
                fields[0].plain.subtract([.string, .object, .binData])
            }
        }
        facts.harmlessSize = min(facts.harmlessSize, facts.leastRowSize)
        guard facts[.unreadableID] != nil else { return }
        fields[0].trueTypes = fields[0].plain.intersection([.string, .int, .long])
        fields[0].plain.formIntersection([.objectId, .date, .timestamp, .decimal])
    }

    private mutating func summarizeTests() {
        let holders: TypeMask = [.object, .array, .javascriptWithScope]
        let serious = tests.filter { $0.level > .info }
        tests = serious + tests.filter { $0.level == .info }
        seriousTestCount = serious.count
        for test in serious {
            facts.watched.formUnion(test.types)
            if case .always = test.test { facts.quick.subtract(test.types) }
            if case .dateOutside(let low, let high) = test.test {
                (facts.earliest, facts.latest) = (max(facts.earliest, low), min(facts.latest, high))
            }
        }
        let looksInside = serious.contains { $0.places.contains(.nested) }
        if looksInside || facts.mostLevels < .max || facts[.invalidName] != nil { facts.watched.formUnion(holders) }
        facts.watchedForInfo = tests.reduce([]) { $0.union($1.types) }
        if tests.contains(where: { $0.places.contains(.nested) }) { facts.watchedForInfo.formUnion(holders) }
    }
}

// MARK: fields

extension EnginePlan {
    /// Adds the rule for a field, unless its name is empty or already has a rule, as `_id` may have.
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
        if onlyUUIDs { facts.hasOnlyUUIDs = true }
        if fields[0].kind == .id { return fields[0].plain.formIntersection(types) }
        var field = Field(kind: .id, rule: rule.rule, level: rule.level, plain: types, accepts: types)
        if onlyUUIDs { field.plain.remove(.binData) }
        add("_id", field)
    }

    private mutating func addColumn(_ name: String, _ type: EngineSettings.ColumnType, _ rule: EngineRule) {
        let numbers: TypeMask = [.null, .undefined, .minKey, .maxKey, .int, .bool]
        let (kind, types): (Field.Kind, TypeMask) =
            switch type {
            // A text column can hold any value as text, except a timestamp of more than 63 bits, which SQLite reads
            // from JSON as a real.
            case .text: (.text, .all.subtracting(.timestamp))
            case .integer: (.integer, numbers.union(.long))
            case .real: (.real, numbers.union(.double))
            }
        add(
            name, Field(kind: kind, rule: rule.rule, level: rule.level, plain: types),
            expected: "value that \(type == .integer ? "an" : "a") \(type) column holds")
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
