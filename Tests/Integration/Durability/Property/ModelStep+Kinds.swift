import BSON
import Proving
import ServerSchema

@testable import JobState
@testable import Jobs

/// Generates random steps; for most kinds of steps, the test can compute the expected result itself.
extension ModelStep {
    static func random(using random: inout Randomness) -> ModelStep {
        let old = [makeDefault, makeCopy, makeConvert, makeConvertInto]
        let kinds = Step.kinds.count > 3 ? old + [makeUnset, makeOtherCopy, unmodelled] : old
        return random.pick(kinds)(&random)
    }

    /// Paths of fields that many of the random documents have, and a few paths that none of them has.
    private static let paths = [
        "a", "b", "c", "d", "n", "é", "e.x", "e.y.z", "e.n", "q.r", "m.k", "l", "e.y",
    ].compactMap { try? FieldPath($0) }

    private static func twoPaths(_ random: inout Randomness) -> (FieldPath, FieldPath) {
        while true {
            let (first, second) = (random.pick(paths), random.pick(paths))
            if !first.meets(second) { return (first, second) }
        }
    }

    private static let constants: [(yaml: String, value: BSONValue)] = [
        (#""""#, ""), ("0", 0), ("true", true), (#"{$numberLong: "5"}"#, .long(5)), ("[]", []), ("{}", [:]),
        ("[1, {k: x}]", [1, ["k": "x"]]), (#"{$literal: "$a"}"#, "$a"), ("1.5", 1.5),
        (#"{$numberDecimal: "1.50"}"#, .decimal15),
    ]

    private static func makeDefault(_ random: inout Randomness) -> ModelStep {
        let (path, constant, fillsNulls) = (random.pick(paths), random.pick(constants), random.percent(50))
        let when = fillsNulls ? "missingOrNull" : "missing"
        return .changes(path, yaml: "default: {field: \(path), value: \(constant.yaml), when: \(when)}") { value in
            switch value {
            case nil: .to(constant.value)
            case .null?, .undefined?: fillsNulls ? .to(constant.value) : .nothing
            default: .nothing
            }
        }
    }

    private static func makeCopy(_ random: inout Randomness) -> ModelStep {
        let (from, to) = twoPaths(&random)
        return .fills(
            to, from: from, yaml: "copy: {from: \(from), to: \(to)}", value: { .to($0) }, applies: { _ in true })
    }

    private static func makeConvert(_ random: inout Randomness) -> ModelStep {
        let (path, type) = (random.pick(paths), random.pick(Conversion.targets))
        return .changes(path, yaml: "convert: {field: \(path), to: \(type.rawValue)}") { value in
            switch ConversionOutcome(of: value, to: type) {
            case .untouched: .nothing
            case .becomes(let converted): .to(converted)
            case .reported(let reason): .skipped(reason)
            }
        }
    }

    private static func makeUnset(_ random: inout Randomness) -> ModelStep {
        .unset(random.pick(paths), nullsAlone: random.percent(50))
    }

    private static func makeOtherCopy(_ random: inout Randomness) -> ModelStep {
        let (from, to) = twoPaths(&random)
        return .copy(from, to: to, replaces: random.percent(50))
    }

    private static func makeConvertInto(_ random: inout Randomness) -> ModelStep {
        let ((from, to), type) = (twoPaths(&random), random.pick(Conversion.targets))
        let yaml = "convert: {field: \(from), to: \(type.rawValue), into: \(to)}"
        let convert: @Sendable (BSONValue) -> ModelChange = { value in
            switch ConversionOutcome(of: value, to: type) {
            case .untouched: .to(value)
            case .becomes(let converted): .to(converted)
            case .reported(let reason): .skipped(reason)
            }
        }
        return .fills(to, from: from, yaml: yaml, value: convert) { $0 != .null && $0 != .undefined }
    }
}

extension BSONValue {
    /// The decimal 1.50, which equals 1.5 but has other bytes.
    fileprivate static let decimal15 = Decimal128("1.50").map { BSONValue.decimal($0) } ?? nil
}
