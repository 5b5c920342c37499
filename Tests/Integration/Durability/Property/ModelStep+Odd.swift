import BSON
import Proving

/// Random steps that the tests' own model of a job does not simulate; the server computes their expected result
/// instead.
extension ModelStep {
    private static let fields = ["a", "b", "c", "d", "e.x", "m.k", "l", "e.y"]

    /// Returns a random step that the tests' own model of a job does not simulate, such as a step over array elements
    /// or with an expression.
    static func unmodelled(using random: inout Randomness) -> ModelStep {
        let field = random.pick(fields)
        let free = random.pick(["f1", "f2", "e.f3"])
        let list = random.pick(["l", "a", "b"])
        let choices = [
            asked("dedupe: {field: \(list)}", list),
            asked("combine: {into: \(free), template: \"{a}-{b}\"}", free, "a", "b"),
            asked("split: {field: a, by: \"-\", into: [\(free), f4]}", free, "a", "f4"),
            asked("unwrap: {field: \(field)}", field),
            asked(
                "rename: {from: \(field), to: \(free), whenPresent: \(random.pick(["keep", "replace", "report"]))}",
                free, field),
            asked("unwrap: {field: e, from: x}", "e"),
            asked("wrap: {field: \(field), under: k}", field),
            asked(
                "convert: {field: \(field), to: string, onError: \(random.pick(["null", "default, default: none"]))}",
                field),
            asked("convert: {field: \(field), to: int, onLoss: allow}", field),
            asked("convert: {field: \"l.[]\", to: string}", "l"),
            asked("convert: {field: \"m.[]\", to: int}", "m"),
            asked("default: {field: \"l.[].k\", value: 1}", "l"),
            asked("drop-nulls: {field: l}", "l"),
            asked("map: {field: \(field), values: {x: y1, \"12\": y2}, unmapped: keep}", field),
            asked(
                "expression: {field: \(free), value: {$type: $a}, when: {$eq: [{$type: \"$\(free)\"}, missing]}}", free,
                "a"
            ),
        ]
        return random.pick(choices)
    }

    private static func asked(_ yaml: String, _ target: String, _ others: String...) -> ModelStep {
        func path(_ text: String) -> FieldPath {
            do { return try FieldPath(text) } catch { preconditionFailure("\(error)") }
        }
        return ModelStep(yaml: yaml, target: path(target), source: nil, find: nil, others: others.map(path))
    }
}
