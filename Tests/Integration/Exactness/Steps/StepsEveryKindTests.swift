import BSON
import TestSupport
import Testing

/// Tests most kinds of steps, with most of their options, over all values in ``OddValues`` except the huge text.
@Suite struct StepsEveryKindTests {
    /// The steps to test.
    ///
    /// Most documents have the field `v`, half of them have the fields `w` and `o`, and none has the field `x`.
    static let forms = [
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
        "expression: {field: v, value: [$v], when: {$eq: [{$type: $v}, int]}, once: _done}",
        "convert: {field: 'v.[]', to: string}", "convert: {field: 'v.[].city', to: int}", "wrap: {field: 'v.[]'}",
        "default: {field: 'v.[]', value: 0, when: missingOrNull}", "unset: {field: 'v.[].city'}",
        "copy: {from: 'v.[].city', to: 'v.[].town'}",
        "expression: {field: 'v.[]', value: 0, when: {$isNumber: $$CURRENT}}",
        "drop-nulls: {field: 'v.[]'}", "unwrap: {field: 'v.[]'}", "dedupe: {field: 'o.l.[]'}",
    ]

    static let documents: [BSONDocument] = {
        let values = (OddValues.all + more).filter { $0.name != "a huge text" }
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

    @Test(arguments: forms) func isSound(_ form: String) async throws {
        try await Mongod.shared.withDatabase { database in
            let run = try await StepsRun(try step(form), over: Self.documents, in: database)
            try run.expectSound()
            // A step that changes no document would test nothing.
            #expect(run.modified > 0)
        }
    }
}
