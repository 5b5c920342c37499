import BSON
import Jobs
import TestSupport
import Testing

/// Tests the effect of steps on a document, by examples.
@Suite struct StepsMeaningTests {
    private func decimal(_ text: String) -> BSONValue { Decimal128(text).map { .decimal($0) } ?? nil }
    private func date(_ milliseconds: Int64) -> BSONValue { .date(milliseconds: milliseconds) }

    @Test func copyWhereTheTargetHoldsAValue() async throws {
        try await StepCase.run(
            "copy: {from: a, to: b, whenPresent: keep}",
            [
                StepCase(["a": 1, "b": 2], nil, .targetKept), StepCase(["a": 1, "b": 1], nil),
                StepCase(["a": 1], ["a": 1, "b": 1]), StepCase(["b": 1], nil),
            ])
        try await StepCase.run(
            "copy: {from: a, to: b, whenPresent: replace}",
            [
                StepCase(["b": 2, "a": 1], ["b": 1, "a": 1]), StepCase(["a": 1, "b": 1.0], ["a": 1, "b": 1]),
                StepCase(["a": 1, "b": 1], nil), StepCase(["b": 1], nil),
                StepCase(["a": nil, "b": 1], ["a": nil, "b": nil]),
            ])
    }

    @Test func convertWithLoss() async throws {
        try await StepCase.run(
            "convert: {field: v, to: int, onLoss: allow}",
            [
                StepCase(["v": 3.7], ["v": 3]), StepCase(["v": "3.7"], ["v": 3]), StepCase(["v": "1e3"], ["v": 1_000]),
                StepCase(["v": 3e10], nil, .outOfRange), StepCase(["v": decimal("5.9")], ["v": 5]),
                StepCase(["v": "3e10"], nil, .outOfRange), StepCase(["v": "x"], nil, .noValue),
            ])
        try await StepCase.run(
            "convert: {field: v, to: date, onLoss: allow}",
            [
                StepCase(["v": "2020-01-01T00:00:00+01:00"], ["v": date(1_577_833_200_000)]),
                StepCase(
                    ["v": .objectID(ObjectID(high: 0x5E0B_E100_0000_0000, low: 0))], ["v": date(1_577_836_800_000)]),
                StepCase(["v": "now"], nil, .noValue), StepCase(["v": "2020-02-30"], nil, .noValue),
            ])
    }

    @Test func valuesOfKeptTypesAreNotConverted() async throws {
        try await StepCase.run(
            "convert: {field: v, to: long, keep: [int, double, bool]}",
            [
                StepCase(["v": 7], nil), StepCase(["v": 7.0], nil), StepCase(["v": true], nil),
                StepCase(["v": "7"], ["v": .long(7)]), StepCase(["v": .long(7)], nil),
                StepCase(["v": "x"], nil, .noValue), StepCase(["v": decimal("7")], ["v": .long(7)]),
            ])
        try await StepCase.run(
            "convert: {field: 'v.[]', to: long, keep: [int]}",
            [StepCase(["v": [7, "8"]], ["v": [7, .long(8)]]), StepCase(["v": [7, 8]], nil)])
    }

    @Test func convertWhatHasNoCounterpart() async throws {
        try await StepCase.run(
            "convert: {field: v, to: int, onError: 'null'}",
            [
                StepCase(["v": "x"], ["v": nil]), StepCase(["v": "7"], ["v": 7]),
                // A conversion that loses a part of the value is not an error, so `onError` does not apply.
                StepCase(["v": 3.5], nil, .rounded), StepCase(["v": [:]], ["v": nil]), StepCase(["v": nil], nil),
            ])
        try await StepCase.run(
            "convert: {field: v, to: int, into: w, onError: default, default: -1}",
            [
                StepCase(["v": "x"], ["v": "x", "w": -1]), StepCase(["v": "x", "w": 3], nil, .targetDiffers),
                StepCase(["v": "x", "w": -1], nil), StepCase(["v": 5], ["v": 5, "w": 5]),
            ])
    }

    @Test func secondsAreNoMilliseconds() async throws {
        try await StepCase.run(
            "convert: {field: v, to: date, unit: seconds}",
            [
                StepCase(["v": 1_577_836_800], ["v": date(1_577_836_800_000)]),
                StepCase(["v": .long(1_577_836_800)], ["v": date(1_577_836_800_000)]),
                StepCase(["v": 1_577_836_800.123], ["v": date(1_577_836_800_123)]),
                StepCase(["v": decimal("1577836800.123")], ["v": date(1_577_836_800_123)]),
                StepCase(["v": decimal("1577836800.1234")], nil, .rounded),
                StepCase(["v": 0.0001], nil, .rounded), StepCase(["v": .long(.max)], nil, .outOfRange),
                StepCase(["v": "2020-01-01"], ["v": date(1_577_836_800_000)]), StepCase(["v": -1], ["v": date(-1_000)]),
            ])
        try await StepCase.run(
            "convert: {field: v, to: long, unit: seconds}",
            [
                StepCase(["v": date(1_577_836_800_000)], ["v": .long(1_577_836_800)]),
                StepCase(["v": date(1_577_836_800_123)], nil, .rounded), StepCase(["v": 5], ["v": .long(5)]),
            ])
        try await StepCase.run(
            "convert: {field: v, to: double, unit: seconds}",
            [StepCase(["v": date(1_577_836_800_123)], ["v": 1_577_836_800.123]), StepCase(["v": 5], ["v": 5.0])])
    }

    @Test func combine() async throws {
        try await StepCase.run(
            "combine: {into: full, template: '{first} {{{last}}} {n}'}",
            [
                StepCase(["first": "A", "last": "B", "n": 1], ["first": "A", "last": "B", "n": 1, "full": "A {B} 1"]),
                StepCase(["first": "A", "last": "B"], nil, .partMissing),
                StepCase(["first": "A", "last": nil, "n": 1], nil, .partMissing),
                StepCase(["first": "A", "last": [], "n": 1], nil, .wrongType),
                StepCase(["first": "A", "last": "B", "n": 1, "full": "A {B} 1"], nil),
                StepCase(["first": "A", "last": "B", "n": 1, "full": "a {B} 1"], nil, .targetDiffers),
                StepCase(["full": "x"], nil),
            ])
    }

    @Test func split() async throws {
        try await StepCase.run(
            "split: {field: full, by: ' ', into: [first, last]}",
            [
                StepCase(["full": "A B"], ["full": "A B", "first": "A", "last": "B"]),
                StepCase(["full": "A B C"], nil, .notSplittable), StepCase(["full": "A"], nil, .notSplittable),
                StepCase(["full": 5], nil, .wrongType), StepCase(["full": nil], nil), StepCase([:], nil),
                StepCase(["full": "A B", "last": "B"], ["full": "A B", "last": "B", "first": "A"]),
                StepCase(["full": "A B", "last": "C"], nil, .targetDiffers),
                StepCase(["full": "A B", "last": "B", "first": "A"], nil),
                StepCase(["full": " B"], ["full": " B", "first": "", "last": "B"]),
            ])
        try await StepCase.run(
            "split: {field: full, regex: '(?<first>[^,]+), *(?<last>(x|y)*z)', into: {first: a, last: b}, join: "
                + "'{first}, {last}'}",
            [
                StepCase(["full": "A, xyz"], ["full": "A, xyz", "a": "A", "b": "xyz"]),
                StepCase(["full": "A,  xyz"], nil, .notSplittable), StepCase(["full": "A, xyz!"], nil, .notSplittable),
                StepCase(["full": "A"], nil, .notSplittable),
            ])
        try await StepCase.run(
            "split: {field: full, regex: '(?<first>[^,]+), *(?<last>(x|y)*z)', into: {first: a, last: b}, onLoss: "
                + "allow}",
            [StepCase(["full": "A,  xyz!"], ["full": "A,  xyz!", "a": "A", "b": "xyz"])])
    }

    @Test func wrapAndUnwrap() async throws {
        try await StepCase.run(
            "wrap: {field: v}",
            [
                StepCase(["v": 1, "z": 2], ["v": [1], "z": 2]), StepCase(["v": ["a": 1]], ["v": [["a": 1]]]),
                StepCase(["v": []], nil), StepCase(["v": nil], nil), StepCase([:], nil),
            ])
        try await StepCase.run(
            "wrap: {field: v, under: amount}",
            [
                StepCase(["v": 1], ["v": ["amount": 1]]), StepCase(["v": ["amount": 1]], nil),
                StepCase(["v": ["x": 1]], nil, .wrongType), StepCase(["v": [1]], ["v": ["amount": [1]]]),
            ])
        try await StepCase.run(
            "unwrap: {field: v}",
            [
                StepCase(["v": [1], "z": 2], ["v": 1, "z": 2]), StepCase(["v": [nil]], ["v": nil]),
                StepCase(["v": []], nil, .notSingle), StepCase(["v": [1, 2]], nil, .notSingle),
                StepCase(["v": [[1]]], nil, .notSingle), StepCase(["v": 1], nil), StepCase(["v": ["a": 1]], nil),
            ])
        try await StepCase.run(
            "unwrap: {field: v, from: amount}",
            [
                StepCase(["v": ["amount": 1]], ["v": 1]), StepCase(["v": ["amount": 1, "unit": 2]], nil, .notSingle),
                StepCase(["v": ["Amount": 1]], nil), StepCase(["v": [:]], nil),
                StepCase(["v": ["amount": ["amount": 1]]], nil, .notSingle),
                StepCase(["v": ["amount": ["x": 1]]], ["v": ["x": 1]]), StepCase(["v": ["x": 1, "y": 2]], nil),
                StepCase(["v": ["amount": ["amount": 1, "unit": 2]]], nil, .notSingle),
            ])
    }

    @Test func dedupeAndDropNulls() async throws {
        try await StepCase.run(
            "dedupe: {field: v}",
            [
                StepCase(["v": [1, 1.0, "a", .long(1), "A", "a"]], ["v": [1, "a", "A"]]),
                StepCase(["v": [1.0, 1]], ["v": [1.0]]), StepCase(["v": [1, 2]], nil), StepCase(["v": []], nil),
                StepCase(["v": [nil, .undefined, nil]], ["v": [nil, .undefined]]), StepCase(["v": 1], nil, .wrongType),
                StepCase(["v": [["a": 1], ["a": 1.0], ["a": 1]]], ["v": [["a": 1], ["a": 1.0]]]),
                StepCase(["v": [["a": 1, "b": 2], ["b": 2, "a": 1]]], nil),
                StepCase(["v": [[1], [1.0], [1.0]]], ["v": [[1], [1.0]]]), StepCase(["v": nil], nil),
                StepCase(["v": ["a", .symbol("a"), "a"]], ["v": ["a", .symbol("a")]]),
                StepCase(["v": [0.0, -0.0, .double(.nan), .double(.nan)]], ["v": [0.0, .double(.nan)]]),
            ])
        try await StepCase.run(
            "drop-nulls: {field: v}",
            [
                StepCase(["v": [nil, 1, .undefined, [nil]]], ["v": [1, [nil]]]), StepCase(["v": [1]], nil),
                StepCase(["v": ["a": nil, "b": 1, "": nil, "c": .undefined]], ["v": ["b": 1]]),
                StepCase(["v": nil], nil), StepCase(["v": "x"], nil, .wrongType), StepCase(["v": [nil]], ["v": []]),
                StepCase(["v": ["a": nil, "b": 1, "b": 2]], nil, .repeatedName),
            ])
    }

    @Test func unset() async throws {
        try await StepCase.run(
            "unset: {field: v}",
            [StepCase(["v": nil, "z": 1], ["z": 1]), StepCase(["z": 1], nil), StepCase(["a": 1, "v": [1]], ["a": 1])])
        try await StepCase.run(
            "unset: {field: o.v}",
            [
                StepCase(["o": ["a": 1, "v": 2, "V": 3]], ["o": ["a": 1, "V": 3]]),
                StepCase(["o": ["v": 1]], ["o": [:]]),
                StepCase(["o": [["v": 1]]], nil), StepCase(["o": 1], nil), StepCase([:], nil),
            ])
        try await StepCase.run(
            "unset: {field: v, when: 'null'}", [StepCase(["v": nil], [:]), StepCase(["v": 0], nil)])
    }

    @Test func remapLinkByAMap() async throws {
        try await StepCase.run(
            "map: {field: owner, values: {1: 10, a: b, '1': c}}",
            [
                StepCase(["owner": 1], ["owner": 10]), StepCase(["owner": .long(1)], ["owner": 10]),
                StepCase(["owner": "1"], ["owner": "c"]), StepCase(["owner": "a"], ["owner": "b"]),
                StepCase(["owner": "A"], nil, .notInMap), StepCase(["owner": "b"], nil), StepCase(["owner": nil], nil),
                StepCase(["owner": [1]], nil, .notInMap),
            ])
        try await StepCase.run(
            "map: {field: 'pets.[]', values: [{from: 1, to: 2}, {from: 2, to: 1}], unmapped: keep, once: _swapped}",
            [
                StepCase(["pets": [1, 2, 3]], ["pets": [2, 1, 3], "_swapped": true]),
                StepCase(["pets": [1], "_swapped": true], nil), StepCase(["pets": [3]], nil), StepCase([:], nil),
            ])
    }

    @Test func expression() async throws {
        try await StepCase.run(
            "expression: {field: total, value: {$sum: $items.price}, when: {$isArray: $items}}",
            [
                StepCase(
                    ["items": [["price": 1], ["price": 2]]], ["items": [["price": 1], ["price": 2]], "total": 3]),
                StepCase(["items": 1], nil), StepCase(["items": [], "total": 0.0], ["items": [], "total": 0]),
            ])
        // These values are arrays. An operator with one argument would take such an array as the list of its arguments.
        for value in ["[$n, 2]", "[]", "[$n]", "[[$n, 2], {a: [1]}]"] {
            let made: BSONValue =
                switch value {
                case "[$n, 2]": [1, 2]
                case "[]": []
                case "[$n]": [1]
                default: [[1, 2], ["a": [1]]]
                }
            try await StepCase.run(
                "expression: {field: pair, value: \(value)}",
                [
                    StepCase(["n": 1], ["n": 1, "pair": made]), StepCase(["n": 1, "pair": made], nil),
                    StepCase(["n": 1, "pair": 5], ["n": 1, "pair": made]),
                ])
        }
        try await StepCase.run(
            "expression: {field: has, value: {$in: [$n, [1, 2]]}, when: [$n]}",
            [StepCase(["n": 1], ["n": 1, "has": true])])
        try await StepCase.run(
            "expression: {field: n, value: {$add: [$n, 1]}, when: {$isNumber: $n}, once: _counted}",
            [
                StepCase(["n": 1], ["n": 2, "_counted": true]), StepCase(["n": 2, "_counted": true], nil),
                StepCase(["n": "x"], nil),
            ])
        try await StepCase.run(
            "expression: {field: 'lines.[].sum', value: {$multiply: [$a, $$ROOT.factor]}, when: {$isNumber: $a}}",
            [
                StepCase(
                    ["factor": 2, "lines": [["a": 1], ["b": 1], 5]],
                    ["factor": 2, "lines": [["a": 1, "sum": 2], ["b": 1], 5]], .parentNotObject)
            ])
    }
}
