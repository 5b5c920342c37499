import BSON
import Jobs
import TestSupport
import Testing

/// Tests steps whose paths lead through arrays and dictionaries.
@Suite struct StepsElementsTests {
    @Test func everyElementOfAListAndEveryValueOfADictionary() async throws {
        try await StepCase.run(
            "convert: {field: 's.[]', to: string}",
            [
                StepCase(["s": [1, "a", 2, nil]], ["s": ["1", "a", "2", nil]]), StepCase(["s": []], nil),
                StepCase(["s": ["x": 1, "y": "b", "": 2]], ["s": ["x": "1", "y": "b", "": "2"]]),
                StepCase(["s": [1, [2]]], ["s": ["1", [2]]], .noValue),
                StepCase(["s": [[2]]], nil, .noValue),
                StepCase(["s": 1], nil, .notContainer), StepCase(["s": nil], nil), StepCase([:], nil),
            ])
    }

    @Test func fieldsOfElements() async throws {
        try await StepCase.run(
            "default: {field: 'pets.[].toy', value: ball}",
            [
                StepCase(
                    ["pets": [["name": "A"], ["toy": "x", "name": "B"], nil, 5]],
                    ["pets": [["name": "A", "toy": "ball"], ["toy": "x", "name": "B"], nil, 5]], .parentNotObject,
                    .parentMissing),
                StepCase(["pets": ["a": [:], "b": ["toy": 1]]], ["pets": ["a": ["toy": "ball"], "b": ["toy": 1]]]),
                StepCase(["pets": [[["toy": 1], [:]]]], nil, .parentNotObject),
            ])
        try await StepCase.run(
            "copy: {from: 'pets.[].toy', to: 'pets.[].best'}",
            [
                StepCase(
                    ["pets": [["toy": 1], ["toy": 2, "best": 3], ["best": 4]], "toy": 9],
                    ["pets": [["toy": 1, "best": 1], ["toy": 2, "best": 3], ["best": 4]], "toy": 9], .targetDiffers)
            ])
        try await StepCase.run(
            "combine: {into: 'p.[].full', template: '{p.[].a} {p.[].b}'}",
            [StepCase(["p": [["a": "x", "b": "y"]]], ["p": [["a": "x", "b": "y", "full": "x y"]]])])
        try await StepCase.run(
            "split: {field: 'p.[].full', by: ' ', into: ['p.[].a', 'p.[].b']}",
            [
                StepCase(
                    ["p": ["k": ["full": "x y"], "l": ["full": "x"]]],
                    ["p": ["k": ["full": "x y", "a": "x", "b": "y"], "l": ["full": "x"]]], .notSplittable)
            ])
    }

    @Test func listsInListsAndInObjects() async throws {
        try await StepCase.run(
            "convert: {field: 'o.orders.[].lines.[].price', to: decimal}",
            [
                StepCase(
                    ["o": ["x": 0, "orders": [["lines": [["price": "1.50"], ["p": 1]]], ["lines": 5], [:]]]],
                    [
                        "o": [
                            "x": 0,
                            "orders": [
                                ["lines": [["price": .decimal(Decimal128("1.50") ?? Decimal128(0))], ["p": 1]]],
                                ["lines": 5], [:],
                            ],
                        ]
                    ], .notContainer),
                StepCase(["o": 1], nil, .notContainer), StepCase(["o": [["orders": []]]], nil, .notContainer),
            ])
        try await StepCase.run(
            "convert: {field: 'm.[].[]', to: string}",
            [StepCase(["m": [[1, 2], ["a": 3], 4]], ["m": [["1", "2"], ["a": "3"], 4]], .notContainer)])
    }

    /// If a field name occurs twice in an element, the step keeps both fields when it writes elsewhere in the element.
    ///
    /// It skips the document if it would have to write into the object with the repeated name.
    @Test func aRepeatedNameInAnElement() async throws {
        try await StepCase.run(
            "default: {field: 'pets.[].toy', value: 1}",
            [
                StepCase(["pets": [["a": 1, "a": 2], [:]]], nil, .repeatedName),
                StepCase(["pets": ["x": ["a": 1], "x": [:]]], nil, .repeatedName),
                StepCase(["pets": [["b": ["a": 1, "a": 2]]]], ["pets": [["b": ["a": 1, "a": 2], "toy": 1]]]),
            ])
        try await StepCase.run(
            "convert: {field: 'v.[]', to: string}",
            [StepCase(["v": [1, ["a": 1, "a": 2]]], nil, .noValue, .repeatedName)])
    }
}
