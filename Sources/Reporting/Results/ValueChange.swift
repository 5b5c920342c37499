import BSON

/// A value of a document before and after a job: the innermost value that differs.
struct ValueChange {
    private let path: String
    private let before, after: BSONValue?

    /// Returns the innermost differences between two values; none if the values are equal.
    ///
    /// The elements of a list have the path of the list with `[]`. Lists of different lengths differ as a whole.
    static func all(from before: BSONValue?, to after: BSONValue?, at path: String) -> [ValueChange] {
        guard before != after else { return [] }
        switch (before, after) {
        case (.object(let old)?, .object(let new)?):
            let names = [old, new].flatMap { (try? $0.elements())?.map(\.name) ?? [] }.grouped { $0 }.map(\.key)
            let inner = names.flatMap { all(from: old[$0], to: new[$0], at: "\(path).\($0)") }
            // Without a difference inside, the order of the fields differs.
            return inner.isEmpty ? [ValueChange(path: path, before: before, after: after)] : inner
        case (.array(let old)?, .array(let new)?) where old.values.count == new.values.count:
            return zip(old.values, new.values).flatMap { all(from: $0, to: $1, at: "\(path)[]") }
        default: return [ValueChange(path: path, before: before, after: after)]
        }
    }

    /// The path and the two values, such as `lines[].quantity "12" → 12`.
    var values: String { "\(path) \(before?.shellText ?? "missing") → \(after?.shellText ?? "missing")" }

    /// The path and the types of the values, such as `lines[].quantity string → int`, or that one value of the type
    /// replaces another.
    var types: String {
        let (old, new) = (before?.type.description ?? "missing", after?.type.description ?? "missing")
        return old == new ? "\(path) another \(old)" : "\(path) \(old) → \(new)"
    }
}
