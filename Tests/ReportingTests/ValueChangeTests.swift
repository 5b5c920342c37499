import BSON
import Testing

@testable import Reporting

/// Tests the changes that a dry run shows as examples: the innermost values that differ.
@Suite struct ValueChangeTests {
    private func types(_ before: BSONValue?, _ after: BSONValue?) -> [String] {
        ValueChange.all(from: before, to: after, at: "f").map(\.types)
    }

    @Test func theInnermostValueIsNamed() {
        let before: BSONValue = ["a": 1, "lines": [["quantity": "12"], ["quantity": 3]]]
        let after: BSONValue = ["a": 1, "lines": [["quantity": 12], ["quantity": 3]]]
        #expect(types(before, after) == ["f.lines[].quantity string → int"])
        #expect(
            ValueChange.all(from: before, to: after, at: "f").map(\.values) == ["f.lines[].quantity \"12\" → 12"])
    }

    @Test func aFieldComesOrGoes() {
        #expect(types(nil, "x") == ["f missing → string"])
        #expect(types(["a": 1], ["b": 1]) == ["f.a int → missing", "f.b missing → int"])
        #expect(types([1], [1, 2]) == ["f another array"])
    }

    /// Two types that are the same say nothing, so the text says that the value is another one.
    @Test func anotherValueOfTheTypeIsNamed() {
        #expect(types("a", "b") == ["f another string"])
        #expect(types("a", "a") == [])
    }

    @Test func theOrderOfFieldsIsAChange() {
        #expect(types(["a": 1, "b": 2], ["b": 2, "a": 1]) == ["f another object"])
    }
}
