import BSON

/// A generator of random schemas, in which all keywords occur.
struct SchemaGenerator {
    var random: Randomness
    /// The probability, in percent, that a schema gets a defect, so that mongod may refuse the schema.
    var defectChance = 0

    /// The keywords of the dialect, without those that only describe.
    static let keywords: Set = [
        "bsonType", "type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "pattern", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "items", "additionalItems",
        "minProperties", "maxProperties", "required", "properties", "additionalProperties", "patternProperties",
        "dependencies", "allOf", "anyOf", "oneOf", "not", "encrypt", "encryptMetadata",
    ]

    static let names = ["a", "b", "c", "d", "e", "_id", "0", "é"]
    static let oddNames = ["a.b", "a.0", "b.c", "a.b.c", "b.0.a", "", "a.", ".a", "c.1", "0.a", "$a", "a.b.0"]

    mutating func name() -> String { random.percent(12) ? random.pick(Self.oddNames) : random.pick(Self.names) }

    /// Returns a random schema.
    /// - Parameter depth: the maximum number of levels of schemas inside it.
    mutating func schema(depth: Int, isRoot: Bool = false) -> BSONDocument {
        var keywords: [(String, BSONValue)] = []
        if isRoot ? random.percent(30) : random.percent(60) { keywords.append(type(isRoot: isRoot)) }
        let count = isRoot ? 1 + random.below(4) : random.below(4)
        for _ in 0..<count {
            for keyword in self.keyword(depth: depth, isRoot: isRoot) { keywords.append(keyword) }
        }
        var seen: Set<String> = []
        keywords = keywords.filter { seen.insert($0.0).inserted }
        if seen.contains("encrypt") { keywords.removeAll { $0.0 == "bsonType" || $0.0 == "type" } }
        if random.percent(defectChance) { breakOne(&keywords) }
        keywords.shuffle(using: &random)
        return BSONDocument(keywords)
    }

    private mutating func type(isRoot: Bool) -> (String, BSONValue) {
        if isRoot { return ("bsonType", random.percent(90) ? "object" : ["object", "array"]) }
        if random.percent(15) {
            return ("type", .string(random.pick(["object", "array", "number", "boolean", "string", "null"])))
        }
        let pool = random.percent(70) ? SampleValues.commonTypes : SampleValues.types
        guard random.percent(35) else { return ("bsonType", .string(random.pick(pool))) }
        let names = Set((0...random.below(4)).map { _ in random.pick(pool) })
        return ("bsonType", .array(of: names.sorted().map { .string($0) }))
    }

    private mutating func keyword(depth: Int, isRoot: Bool) -> [(String, BSONValue)] {
        let isObject = random.percent(isRoot ? 75 : 30)
        if isObject { return [object(depth: depth)] }
        switch random.below(10) {
        case 0...1 where depth > 0: return [combination(depth: depth)]
        case 2: return [("enum", allowedValues(isRoot: isRoot, depth: depth))]
        case 3...4: return [array(depth: depth)]
        case 5...6: return [string()]
        case 7 where random.percent(15): return [encryption()]
        case 7 where random.percent(10): return [(random.pick(["title", "description"]), "words")]
        default: return number()
        }
    }

    private mutating func number() -> [(String, BSONValue)] {
        let bound = random.pick(random.pick([SampleValues.integers, SampleValues.doubles, SampleValues.decimals]))
        let bounded = ["Minimum", "Maximum", nil][random.below(3)]
        guard let bounded else { return [("multipleOf", random.pick(Self.divisors))] }
        return [(bounded.lowercased(), bound)]
            + (random.percent(50) ? [("exclusive\(bounded)", .bool(random.percent(70)))] : [])
    }

    private static let divisors: [BSONValue] =
        [
            1, 2, 3, 7, .long(10), 0.1, 0.5, 0.01, 2.5, 1.1, 1e-7, .double(1e22), .double(3e-5), 0.000925,
            .double(9.5367431640625e-07), .double(3.0517578125e-05),
        ] + ["0.1", "1E-3", "3", "1E+3"].map(SampleValues.decimal)

    private mutating func string() -> (String, BSONValue) {
        switch random.below(3) {
        case 0: ("pattern", .string(random.pick(SampleValues.patterns).text))
        case 1: ("minLength", count(5))
        default: ("maxLength", count(5))
        }
    }

    private mutating func count(_ bound: Int) -> BSONValue {
        let value = random.below(bound)
        return random.pick([
            .int(Int32(value)), .int(Int32(value)), .long(Int64(value)), .double(Double(value)),
            .decimal(Decimal128(Int64(value))),
        ])
    }

    private mutating func array(depth: Int) -> (String, BSONValue) {
        switch random.below(depth > 0 ? 7 : 3) {
        case 0: return ("minItems", count(4))
        case 1: return ("maxItems", count(4))
        case 2: return ("uniqueItems", .bool(random.percent(85)))
        case 3...4: return ("items", .object(schema(depth: depth - 1)))
        case 5: return ("items", .array(of: (0..<random.below(4)).map { _ in .object(schema(depth: depth - 1)) }))
        default: return ("additionalItems", flagOrSchema(depth: depth))
        }
    }

    private mutating func flagOrSchema(depth: Int) -> BSONValue {
        if depth <= 0 || random.percent(50) { return .bool(random.percent(35)) }
        return .object(schema(depth: depth - 1))
    }

    private mutating func object(depth: Int) -> (String, BSONValue) {
        switch random.below(depth > 0 ? 11 : 4) {
        case 0: return ("minProperties", count(5))
        case 1: return ("maxProperties", count(5))
        case 2...3: return ("required", .array(of: fieldNames()))
        case 4...6:
            return ("properties", schemas(depth: depth, count: 1 + random.below(4), ofNames: true))
        case 7: return ("additionalProperties", flagOrSchema(depth: depth))
        case 8: return ("patternProperties", schemas(depth: depth, count: 1 + random.below(2), ofNames: false))
        default: return ("dependencies", dependencies(depth: depth))
        }
    }

    private mutating func fieldNames() -> [BSONValue] {
        Set((0...random.below(3)).map { _ in name() }).sorted().map { .string($0) }
    }

    private mutating func schemas(depth: Int, count: Int, ofNames: Bool) -> BSONValue {
        var members: [(String, BSONValue)] = []
        for _ in 0..<count {
            let key = ofNames ? name() : random.pick(["^a", "b", "[c-e]", "\\d", "", "^é$", "^..$", "^_"])
            // A name may occur twice; both of its schemas then apply.
            if members.contains(where: { $0.0 == key }), random.percent(80) { continue }
            members.append((key, .object(schema(depth: depth - 1))))
        }
        return .object(BSONDocument(members))
    }

    private mutating func dependencies(depth: Int) -> BSONValue {
        var members: [(String, BSONValue)] = []
        for _ in 0...random.below(2) {
            let value: BSONValue =
                random.percent(50)
                ? .array(of: fieldNames()) : .object(schema(depth: depth - 1, isRoot: random.percent(50)))
            members.append((name(), value))
        }
        return .object(BSONDocument(members))
    }

    private mutating func combination(depth: Int) -> (String, BSONValue) {
        let keyword = random.pick(["allOf", "anyOf", "oneOf", "not"])
        if keyword == "not" { return (keyword, .object(schema(depth: depth - 1))) }
        return (keyword, .array(of: (0...random.below(3)).map { _ in .object(schema(depth: depth - 1)) }))
    }

    private mutating func allowedValues(isRoot: Bool, depth: Int) -> BSONValue {
        var instances = InstanceGenerator(random: random)
        var values: [BSONValue] = []
        for _ in 0...random.below(4) {
            let value = instances.anything(depth: isRoot ? 2 : 1)
            guard !values.contains(where: { (try? $0.isEqualIgnoringFieldOrder(value)) ?? true }) else { continue }
            values.append(value)
        }
        random = instances.random
        return .array(of: values)
    }

    private mutating func encryption() -> (String, BSONValue) {
        switch random.below(4) {
        case 0: ("encrypt", [:])
        case 1: ("encrypt", ["bsonType": .string(random.pick(["int", "string", "minKey", "number"]))])
        case 2: ("encrypt", ["bsonType": ["int", "string"], "keyId": "/key"])
        default: ("encryptMetadata", ["algorithm": "AEAD_AES_256_CBC_HMAC_SHA_512-Random"])
        }
    }
}
