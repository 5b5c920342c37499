import BSON
import Jobs
import Proving
import ServerSchema
import TestSupport
import Testing

/// Tests the conversion of each value in ``OddValues`` to every type.
///
/// The expected result is computed without the server.
@Suite struct ConversionMatrixTests {
    @Test(arguments: Conversion.targets) func everyValue(to type: SchemaType) async throws {
        try await Mongod.shared.withDatabase { database in
            let writesAllDigits = try await Self.writesAllDigits(database)
            let step = Step.convert(field: try path("v"), to: type, into: nil)
            let run = try await StepsRun(step, over: OddValues.all.documents(), in: database)
            for (index, odd) in OddValues.all.enumerated() {
                let reasons = run.classes[index].reasons.map(\.rawValue)
                let outcome: ConversionOutcome =
                    if !reasons.isEmpty {
                        .reported(reasons.joined(separator: ", "))
                    } else if run.classes[index]
                        .isNeeded
                    {
                        .becomes(run.after[index]["v"] ?? .null)
                    } else { .untouched }
                let expected = ConversionOutcome(of: odd.value, to: type)
                if writesAllDigits, case .reported = expected, outcome.hasAllDigits(of: odd.value) { continue }
                #expect(outcome.isSame(as: expected), "\(odd.name) to \(type.rawValue): \(outcome), not \(expected)")
            }
        }
    }

    /// Whether the server keeps all digits when it converts a double to text, such as 0.30000000000000004.
    ///
    /// On a server that drops digits, the step `convert` skips some values that it otherwise converts.
    private static func writesAllDigits(_ database: TestDatabase) async throws -> Bool {
        try await database.fill("digits", [["_id": 1, "v": 0.30000000000000004]])
        let reply = try await database.run([
            "aggregate": "digits", "pipeline": [["$project": ["t": ["$toString": "$v"]]]], "cursor": [:],
        ])
        return reply["cursor"]?.document?["firstBatch"]?.document?.values.first?.document?["t"]
            == .string("0.30000000000000004")
    }

    /// The conversions that cannot be reversed: "1" and "true" both become true, "2020-01-01" becomes a date with a
    /// time, and a date cannot be converted to an int.
    static let oneWay: Set<[SchemaType]> = [[.string, .bool], [.string, .date], [.int, .date]]

    /// A conversion to another type and back restores the value, except for the conversions in ``oneWay``.
    @Test(arguments: Conversion.targets, Conversion.targets) func thereAndBack(_ type: SchemaType, via: SchemaType)
        async throws
    {
        guard type != via, !Self.oneWay.contains([type, via]) else { return }
        try await Mongod.shared.withDatabase { database in
            let values = OddValues.all.filter {
                $0.value?.type.description == type.rawValue && $0.name != "a huge text"
            }
            guard !values.isEmpty else { return }
            let run = try await StepsRun(
                .convert(field: try path("v"), to: via, into: try path("w")),
                .convert(field: try path("w"), to: type, into: try path("x")),
                over: values.documents(), in: database)
            for (odd, document) in zip(values, run.after) where document["w"] != nil {
                // A decimal keeps its value but may get other digits: 1.50 may become 1.5. A text that was converted to
                // a number and back may change in the same way.
                let isNumber = [.int, .long, .double].contains(via)
                let spelled = odd.value?.text.flatMap { isNumber ? .string($0.withoutFractionZeros) : nil } ?? odd.value
                #expect(document["x"]?.isSameNumber(as: spelled) == true, "\(odd.name) via \(via.rawValue)")
            }
        }
    }
}

extension ConversionOutcome {
    /// Whether one of `value` and this outcome is a double, and the other is its text with all digits.
    ///
    /// Only a text of more than 15 characters counts.
    fileprivate func hasAllDigits(of value: BSONValue?) -> Bool {
        switch (self, value) {
        case (.becomes(.string(let text)), .double(let number)?), (.becomes(.double(let number)), .string(let text)?):
            text == "\(number)" && text.count > 15
        default: false
        }
    }

    /// Whether the two outcomes are the same.
    ///
    /// Values are compared by their bytes, because NaN never equals itself.
    fileprivate func isSame(as other: ConversionOutcome) -> Bool {
        switch (self, other) {
        case (.becomes(let left), .becomes(let right)): left.bytes == right.bytes
        default: self == other
        }
    }
}

extension BSONValue {
    fileprivate func isSameNumber(as other: BSONValue?) -> Bool {
        guard let other, type == other.type else { return false }
        guard let left = BSONNumber(self), let right = BSONNumber(other) else { return self == other }
        return left.compared(to: right) == .equal
    }
}
