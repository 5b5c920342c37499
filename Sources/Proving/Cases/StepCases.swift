package import BSON

/// Steps of jobs and documents for them, by which the program's results are compared with a server's.
package enum StepCases {
    /// Most kinds of steps, with most of their options.
    ///
    /// Most documents have the field `v`, half of them have the fields `w` and `o`, and none has the field `x`.
    package static let forms = [
        "default: {field: v, value: $now}", "default: {field: v, value: [1, {a: null}], when: missingOrNull}",
        "default: {field: o.n, value: 1}", "copy: {from: v, to: w}", "copy: {from: v, to: w, whenPresent: keep}",
        "copy: {from: v, to: w, whenPresent: replace}", "copy: {from: v, to: o.v, whenPresent: replace}",
        "convert: {field: v, to: int, onLoss: allow}", "convert: {field: v, to: long, onError: 'null'}",
        "convert: {field: v, to: double, onError: default, default: 0.5, onLoss: allow}",
        "convert: {field: v, to: decimal, onError: 'null', onLoss: allow}",
        "convert: {field: v, to: string, onError: default, default: none}",
        "convert: {field: v, to: bool, onLoss: allow, into: w}", "convert: {field: v, to: date, onLoss: allow}",
        "convert: {field: v, to: date, unit: seconds}", "convert: {field: v, to: int, unit: seconds}",
        "convert: {field: v, to: long, unit: seconds, onLoss: allow}", "convert: {field: v, to: double, unit: seconds}",
        "convert: {field: v, to: decimal, unit: seconds, into: w}",
        "convert: {field: v, to: objectId, onError: 'null', into: w}",
        "convert: {field: v, to: long, keep: [int, double, bool]}", "convert: {field: 'v.[]', to: string, keep: [int]}",
        "combine: {into: w, template: '{v}-{name}'}", "combine: {into: o.t, template: '{{{v}}}{o.a}'}",
        "split: {field: v, by: '-', into: [w, x, y]}", "split: {field: v, by: '.', into: [x, o.x]}",
        "split: {field: v, regex: '^(?<a>[0-9]+)-(?<b>.*)$', into: {a: w, b: x}, join: '{a}-{b}'}",
        "split: {field: v, regex: '(?<a>[a-z])(?<b>.)', into: {a: w, b: x}, onLoss: allow}",
        "wrap: {field: v}", "wrap: {field: v, under: city}", "unwrap: {field: v}", "unwrap: {field: v, from: a}",
        "dedupe: {field: v}", "drop-nulls: {field: v}", "unset: {field: v}", "unset: {field: v, when: 'null'}",
        "unset: {field: o.a}", "map: {field: v, values: {1: 5, 36: x, abc: def}}",
        "map: {field: v, values: {1: 2, 2: 36}, once: _done, unmapped: keep}",
        "expression: {field: w, value: {$type: $v}}", "expression: {field: v, value: {$toString: $name}}",
        "expression: {field: w, value: [{$ne: [$v, $o]}, {$gt: [$v, 1]}, {$lte: [$v, a]}]}",
        "expression: {field: v, value: [$v], when: {$eq: [{$type: $v}, int]}, once: _done}",
        "convert: {field: 'v.[]', to: string}", "convert: {field: 'v.[].city', to: int}", "wrap: {field: 'v.[]'}",
        "default: {field: 'v.[]', value: 0, when: missingOrNull}", "unset: {field: 'v.[].city'}",
        "copy: {from: 'v.[].city', to: 'v.[].town'}",
        "expression: {field: 'v.[]', value: 0, when: {$isNumber: $$CURRENT}}",
        "drop-nulls: {field: 'v.[]'}", "unwrap: {field: 'v.[]'}", "dedupe: {field: 'o.l.[]'}",
        "expression: {field: name, value: {$toUpper: $name}}",
    ]

    /// Steps that move values, or whose job has several parts.
    static let moves = [
        "rename: {from: v, to: x}", "rename: {from: v, to: o.v, whenPresent: replace}",
        "rename: {fields: {v: o.p.q, w: x}, parents: create}", "rename: {from: 'v.[].city', to: 'v.[].town'}",
        "convert: {field: v, to: double, format: '1,234.56'}", "convert: {field: v, to: int, format: '1 234,56'}",
        "convert: {field: v, to: date, format: [iso, '%d.%m.%Y'], zone: Europe/Madrid}",
        "convert: {field: v, to: string, into: w, remove: true}", "convert: {field: v, to: int, from: [string, bool]}",
        "map: {field: v, values: {1: 5, '': 'null', abc: 1}, into: w, unmapped: keep, remove: true}",
        "map: {field: v, values: [{type: bool, to: 1}, {missing: true, to: 2}]}",
        "combine: {into: x, template: '{v}-{w}', remove: true}",
        "split: {field: v, by: '-', into: [x, y], remove: true}",
        "unset: {field: v, when: empty}", "unset: {field: v, when: undefined}",
        "unset: {field: 'v.[].city', when: 'null'}",
        "default: {field: x, generate: idTime}",
        "cases: [{where: {v: ''}, unset: {field: v}}, {where: {v: {$type: string}}, convert: {field: v, to: int}}, "
            + "{default: {field: v, value: 7}}]",
    ]

    /// Documents in which a name stands twice; a write of them would end mongod 6.0.
    static let repeated: [BSONDocument] = [
        ["_id": 2_000_000, "name": "n", "v": 1, "w": 2, "v": 3], ["_id": 2_000_001, "name": "n", "w": 1, "w": 2],
        ["_id": 2_000_002, "name": "n", "v": ["a": 1, "a": 2], "w": 1],
        ["_id": 2_000_003, "v": [["city": 1, "city": 2]]],
    ]

    package static let documents: [BSONDocument] = {
        let values = (more + OddValues.all).filter { $0.name != "a huge text" }
        let plain = values.documents()
        let neighbours = values.documents().enumerated().map { index, document in
            let parts = ((try? document.elements()) ?? []).dropFirst()
            let extra: [(String, BSONValue)] = [
                ("w", index % 3 == 0 ? "w" : .integer(index)), ("o", ["a": 1, "v": nil, "z": 2, "l": [[1, 1], nil]]),
            ]
            return BSONDocument([("_id", .integer(index + 1_000))] + parts + extra)
        }
        return plain + neighbours
    }()

    /// Values for the field `v` in addition to ``OddValues``; each of them is chosen for a particular kind of step.
    private static let more: [OddValue] = [
        OddValue("a-b-c", "a-b-c"), OddValue("12-x", "12-x"), OddValue("list of one", [1]),
        OddValue("list of a list", [[1]]), OddValue("repeats", [1, 1.0, .long(1), "a", "A", "a", nil, nil, 0.0, -0.0]),
        OddValue("repeated objects", [["a": 1], ["a": 1.0], ["a": 1], ["b": 1, "a": 1]]),
        OddValue("nulls", [nil, 1, .undefined, [nil]]), OddValue("null fields", ["a": nil, "b": 1, "c": .undefined]),
        OddValue("one field", ["a": 5]), OddValue("one field twice", ["a": ["a": 5]]),
        OddValue("cities", [["city": "1"], ["city": "x"], ["city": 3.5], 7, nil, [["city": "2"]], ["town": 1]]),
        OddValue("dictionary", ["a": ["city": 1, "z": 0], "b": ["z": 0], "c": "text", "": ["city": "9"]]),
    ]

    private static let values = OddValues.all.filter { $0.name != "a huge text" }.map(\.value)

    /// Returns a random document with the fields that the ``forms`` read and write.
    package static func document(_ number: Int, _ random: inout Randomness) -> BSONDocument {
        var fields: [(String, BSONValue)] = [("_id", id(number, &random))]
        // This field is always a text: one of the steps converts it with `$toString`, which accepts only
        // scalars.
        fields.append(("name", .string("n\(number)")))
        for name in ["v", "w", "o", "x"] where random.percent(70) {
            let value: BSONValue? = name == "o" && random.percent(60) ? object(&random, 2) : value(&random, 3)
            if let value { fields.append((name, value)) }
        }
        // Steps that copy a value compare it with the value of the target, so the two values are often
        // alike.
        if let index = fields.firstIndex(where: { $0.0 == "w" }), let v = fields.first(where: { $0.0 == "v" })?.1,
            random.percent(40)
        {
            fields[index].1 = alike(v, &random)
        }
        return BSONDocument(fields)
    }

    /// Returns a number or, now and then, an ObjectId, from whose time a step may fill a field.
    private static func id(_ number: Int, _ random: inout Randomness) -> BSONValue {
        guard random.percent(15) else { return .integer(number) }
        return .objectID(ObjectID(high: random.next(), low: UInt32(truncatingIfNeeded: random.next())))
    }

    /// Returns a value that is equal to the given one, or that `$eq` often finds equal to it.
    private static func alike(_ value: BSONValue, _ random: inout Randomness) -> BSONValue {
        switch value {
        case .array(let array): return .array(of: array.values.map { alike($0, &random) })
        case .object(let object):
            return .object(BSONDocument(((try? object.elements()) ?? []).map { ($0.name, alike($0.value, &random)) }))
        case .int(let number) where random.percent(15): return .long(Int64(number))
        case .double(0) where random.percent(50): return .double(-0.0)
        default: return value
        }
    }

    private static func value(_ random: inout Randomness, _ levels: Int) -> BSONValue? {
        switch levels > 0 ? random.below(10) : 9 {
        case 0, 1: .array(of: (0..<random.below(4)).compactMap { _ in value(&random, levels - 1) })
        case 2: object(&random, levels - 1)
        case 3: .string("\(random.below(2_000) - 1_000)" + (random.percent(50) ? "" : ".\(random.below(500))"))
        case 4: .integer(random.below(50))
        default: random.pick(values)
        }
    }

    private static func object(_ random: inout Randomness, _ levels: Int) -> BSONValue {
        var fields: [(String, BSONValue)] = []
        for name in ["a", "n", "v", "l", "city", "town", "x", "\u{E9}", "e\u{301}"] where random.percent(35) {
            if let value = value(&random, levels) { fields.append((name, value)) }
        }
        return .object(BSONDocument(fields))
    }
}

/// Random steps over fields of documents, lists and dictionaries.
extension StepCases {
    private static let fields = ["a", "b", "c", "d", "e.x", "e.y", "m.k", "l[].n", "l[].x", "m{}.k", "n"]
    private static let types = ["string", "int", "long", "double", "decimal", "bool", "date", "objectId"]

    /// Returns a random document with the fields that the steps of ``step(_:)`` read and write.
    package static func nested(_ number: Int, _ random: inout Randomness) -> BSONDocument {
        func fields(_ names: [String]) -> [(String, BSONValue)] {
            names.compactMap { name in
                random.percent(70) ? value(&random, 2).map { (name, $0) } : nil
            }
        }
        var all: [(String, BSONValue)] = [("_id", id(number, &random))] + fields(["a", "b", "c", "d", "n"])
        for (name, inner) in [("e", ["x", "y"]), ("m", ["k", "z"])] where random.percent(75) {
            all.append((name, .object(BSONDocument(fields(inner)))))
        }
        if random.percent(75) {
            let count = random.below(4)
            all.append(("l", .array(of: (0..<count).map { _ in .object(BSONDocument(fields(["n", "x"]))) })))
        }
        return BSONDocument(all)
    }

    /// Returns a random document that has values at most of the paths.
    package static func document(
        _ number: Int, at paths: [FieldPath], _ random: inout Randomness
    ) -> BSONDocument {
        var parts = Set(paths.map(\.components)).sorted { $0.lexicographicallyPrecedes($1) }.map { $0[...] }
        parts.removeAll { $0.first == "_id" }
        guard case .object(let document)? = holder(of: parts, &random) else { return ["_id": .integer(number)] }
        return BSONDocument([("_id", id(number, &random))] + document.fields)
    }

    /// Returns an object with the fields in which the paths begin, or a list if they lead into elements.
    private static func holder(of paths: [ArraySlice<String>], _ random: inout Randomness) -> BSONValue? {
        let inner = Dictionary(grouping: paths.filter { $0.count > 1 }) { $0.first ?? "" }.mapValues { paths in
            paths.map { $0.dropFirst() }
        }
        func field(_ name: String) -> BSONValue? {
            let isHolder = random.percent(80)
            guard let paths = inner[name], isHolder else { return value(&random, 3) }
            return holder(of: paths, &random)
        }
        if paths.contains(where: { $0.first == FieldPath.each }) {
            let elements = (0..<random.below(4)).compactMap { _ in field(FieldPath.each) }
            guard random.percent(20) else { return .array(of: elements) }
            return .object(BSONDocument(zip(["k", "é", "a b"], elements).map { ($0, $1) }))
        }
        let names = Set(paths.compactMap(\.first)).sorted()
        let fields = names.compactMap { name in random.percent(85) ? field(name).map { (name, $0) } : nil }
        return .object(BSONDocument(fields))
    }

    /// Returns the text of a random step, which may read a collection `DATABASE.keys`.
    package static func step(_ random: inout Randomness) -> String {
        let (field, other) = (random.pick(fields), random.pick(fields))
        let top = random.pick(["a", "b", "c", "d", "n"])
        let type = random.pick(types)
        let texts = [
            "default: {field: '\(field)', value: 5, when: \(random.pick(["missing", "missingOrNull"]))}",
            "default: {field: '\(field)', generate: \(random.pick(["uuid", "objectId"]))}",
            "copy: {from: '\(field)', to: '\(other)', whenPresent: \(random.pick(["report", "keep", "replace"]))}",
            "rename: {fields: {\(top): \(top)2, e.x: \(random.pick(["e.z", "x", "o.p"]))}, parents: create}",
            "rename: {from: '\(field)', to: '\(other)', when: \(random.pick(["missing", "missingOrNull"]))}",
            "convert: {field: '\(field)', to: \(type)}",
            "convert: {field: '\(field)', to: \(type), onError: 'null'}",
            "convert: {field: '\(field)', to: \(type), into: '\(other)', remove: \(random.percent(50))}",
            "convert: {field: '\(field)', to: uuid}",
            "convert: {field: '**.\(random.pick(["n", "x", "k"]))', to: \(type)}",
            "convert: {field: '**', from: bool, to: int}",
            "combine: {into: t, template: '{a} {b}', remove: \(random.percent(50))}",
            "split: {field: \(top), by: '-', into: [p, q], remove: \(random.percent(50))}",
            "wrap: {field: '\(field)'}", "unwrap: {field: '\(field)'}",
            "dedupe: {field: l, by: \(random.pick(["exact", "equal", "n"]))}",
            "drop-nulls: {field: '\(random.pick(["l", "m", "**"]))'}",
            "unset: {field: '\(field)', when: \(random.pick(["present", "'null'", "undefined", "empty"]))}",
            "unset: {field: '**.\(random.pick(["n", "x", "k"]))'}", "unset: {field: '**', when: 'null'}",
            "map: {field: '\(field)', values: {x: 1, '': 'null', 12: y}}",
            "map: {field: \(top), values: {x: 1, 0: zero}, into: '\(random.pick(["e.w", "w"]))', unmapped: keep}",
            "map: {field: '\(field)', lookup: DATABASE.keys}",
            "expression: {field: \(top), value: {$toUpper: $\(top)}, when: {$eq: [{$type: $\(top)}, string]}}",
            "cases: [{where: {\(top): ''}, unset: {field: \(top)}}, "
                + "{where: {\(top): {$type: string}}, convert: {field: \(top), to: \(type)}}, "
                + "{default: {field: \(top), value: \(random.pick(["0", "x"]))}}]",
        ]
        return random.pick(texts)
    }
}
