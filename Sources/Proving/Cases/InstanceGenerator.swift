import BSON

/// A generator of documents that fit a schema, or nearly fit it.
struct InstanceGenerator {
    var random: Randomness

    mutating func document(for schema: BSONDocument, id: BSONValue) -> BSONDocument {
        var fields = instance(of: schema, type: "object", depth: 4).document?.fields ?? []
        for _ in 0..<random.below(3) where random.percent(45) { mutate(&fields, depth: 2) }
        fields.removeAll { $0.0 == "_id" }
        return BSONDocument([("_id", id)] + fields)
    }

    private mutating func mutate(_ fields: inout [(String, BSONValue)], depth: Int) {
        switch random.below(fields.isEmpty ? 1 : 6) {
        case 0: fields.append((random.pick(SchemaGenerator.names), anything(depth: 1)))
        case 1: fields.remove(at: random.below(fields.count))
        case 2: fields.append((random.pick(fields).0, anything(depth: 1)))
        case 3: fields.append((random.pick(SchemaGenerator.oddNames), anything(depth: 1)))
        default:
            let index = random.below(fields.count)
            if case .object(let document) = fields[index].1, depth > 0 {
                var inner = document.fields
                mutate(&inner, depth: depth - 1)
                fields[index].1 = .object(BSONDocument(inner))
            } else if random.percent(30) {
                fields[index].1 = .array(of: [fields[index].1, anything(depth: 0)])
            } else {
                fields[index].1 = anything(depth: 1)
            }
        }
    }

    mutating func anything(depth: Int) -> BSONValue {
        let type = random.pick(random.percent(75) ? SampleValues.commonTypes : SampleValues.types)
        if let scalar = SampleValues.scalar(of: type, using: &random) { return scalar }
        let values = depth > 0 ? (0..<random.below(4)).map { _ in anything(depth: depth - 1) } : []
        if type == "array" { return .array(of: values) }
        return .object(BSONDocument(values.map { (random.pick(SchemaGenerator.names), $0) }))
    }

    private mutating func type(of schema: BSONDocument) -> String? {
        guard let stated = schema["bsonType"] ?? schema["type"] else {
            return schema["encrypt"] == nil ? nil : "binData"
        }
        if case .array(let names) = stated { return names.values.randomElement(using: &random)?.text }
        return stated.text
    }

    private mutating func instance(of schema: BSONDocument, type: String? = nil, depth: Int) -> BSONValue {
        guard depth > 0 else { return anything(depth: 0) }
        if case .array(let values)? = schema["enum"], random.percent(80), !values.values.isEmpty {
            return random.pick(values.values)
        }
        if type == nil, random.percent(50) {
            for keyword in ["allOf", "anyOf", "oneOf"] {
                guard case .array(let entries)? = schema[keyword],
                    let entry = entries.values.randomElement(using: &random),
                    case .object(let inner) = entry
                else { continue }
                return instance(of: inner, depth: depth - 1)
            }
        }
        switch type ?? self.type(of: schema) ?? guess(schema) {
        case "object": return object(of: schema, depth: depth)
        case "array": return array(of: schema, depth: depth)
        case "string": return string(of: schema)
        case "int", "long", "double", "decimal", "number":
            return number(of: schema, type: type ?? self.type(of: schema) ?? "number")
        case let name: return SampleValues.scalar(of: name, using: &random) ?? anything(depth: 1)
        }
    }

    /// Returns a type for a schema that names none: usually one that fits its keywords, otherwise a random one.
    private mutating func guess(_ schema: BSONDocument) -> String {
        let hints: [(String, String)] = [
            ("properties", "object"), ("required", "object"), ("patternProperties", "object"),
            ("additionalProperties", "object"), ("dependencies", "object"), ("items", "array"), ("minItems", "array"),
            ("uniqueItems", "array"), ("maxItems", "array"), ("pattern", "string"), ("minLength", "string"),
            ("maxLength", "string"),
            ("minimum", "number"), ("maximum", "number"), ("multipleOf", "number"),
        ]
        for (keyword, type) in hints where schema[keyword] != nil && random.percent(85) { return type }
        return random.pick(SampleValues.types)
    }

    private mutating func number(of schema: BSONDocument, type: String) -> BSONValue {
        let near = [schema["minimum"], schema["maximum"], schema["multipleOf"]].compactMap(\.self)
        guard random.percent(60), let base = near.randomElement(using: &random) else {
            return SampleValues.scalar(of: type, using: &random) ?? 0
        }
        let steps = Double(random.pick([-1, 0, 0, 1, 2, 3]))
        switch base {
        case .int(let value):
            let number = Double(value) + steps
            return random.pick([
                .double(number), Int32(exactly: number).map { .int($0) } ?? .double(number),
                .decimal(Decimal128(Int64(number))),
            ])
        case .long(let value): return .long(value &+ Int64(steps))
        case .double(let value): return .double(random.percent(50) ? value * steps : value + steps)
        default: return base
        }
    }

    private mutating func string(of schema: BSONDocument) -> BSONValue {
        if let text = schema["pattern"]?.text, random.percent(75),
            let sample = SampleValues.patterns.first(where: { $0.text == text })
        {
            return .string(sample.match)
        }
        return .string(random.pick(SampleValues.strings))
    }

    private mutating func array(of schema: BSONDocument, depth: Int) -> BSONValue {
        let count = min(5, max(0, min(5, schema["minItems"]?.integer ?? 0) + random.below(4)))
        var values: [BSONValue] = []
        for index in 0..<count {
            switch schema["items"] {
            case .object(let items)?: values.append(instance(of: items, depth: depth - 1))
            case .array(let entries)?:
                if case .object(let entry)? = index < entries.values.count
                    ? entries.values[index] : schema["additionalItems"]
                {
                    values.append(instance(of: entry, depth: depth - 1))
                } else {
                    values.append(anything(depth: 1))
                }
            default: values.append(anything(depth: 1))
            }
        }
        return .array(of: values)
    }

    private mutating func object(of schema: BSONDocument, depth: Int) -> BSONValue {
        var fields: [(String, BSONValue)] = []
        if case .object(let properties)? = schema["properties"] {
            for (name, value) in (try? properties.elements()) ?? [] {
                guard random.percent(80), case .object(let inner) = value else { continue }
                append(name, instance(of: inner, depth: depth - 1), to: &fields)
            }
        }
        var names: [String] = []
        if case .array(let required)? = schema["required"] { names += required.values.compactMap(\.text) }
        if case .object(let dependencies)? = schema["dependencies"], random.percent(60) {
            for (name, value) in (try? dependencies.elements()) ?? [] {
                names.append(name)
                if case .array(let others) = value { names += others.values.compactMap(\.text) }
            }
        }
        for name in names where random.percent(85) && !fields.contains(where: { $0.0 == name }) {
            append(name, anything(depth: 1), to: &fields)
        }
        if case .object(let patterns)? = schema["patternProperties"] {
            for (name, value) in (try? patterns.elements()) ?? [] {
                guard random.percent(60), case .object(let inner) = value else { continue }
                let example = name.filter { $0.isLetter || $0.isNumber }
                append(example.isEmpty ? "1" : example, instance(of: inner, depth: depth - 1), to: &fields)
            }
        }
        if random.percent(35) { append(random.pick(SchemaGenerator.names), anything(depth: 1), to: &fields) }
        return .object(BSONDocument(fields))
    }

    /// Adds a field; if its name contains dots, usually adds nested objects or arrays instead.
    private mutating func append(_ name: String, _ value: BSONValue, to fields: inout [(String, BSONValue)]) {
        let components = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard components.count > 1, random.percent(85) else { return fields.append((name, value)) }
        var nested = value
        for component in components.dropFirst().reversed() {
            if let index = Int(component), random.percent(60) {
                var elements: [BSONValue] = []
                for _ in 0..<index { elements.append(anything(depth: 1)) }
                nested = .array(of: elements + [nested])
            } else {
                nested = .object(BSONDocument([(component, nested)]))
                if random.percent(30) {
                    var siblings = [nested, anything(depth: 1)]
                    if random.percent(50) { siblings.append(.object(BSONDocument([(component, anything(depth: 1))]))) }
                    siblings.shuffle(using: &random)
                    nested = .array(of: siblings)
                }
            }
        }
        fields.append((components[0], nested))
    }
}
