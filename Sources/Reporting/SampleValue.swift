import BSON
import ServerSchema

extension IDDisplay {
    /// The maximum number of characters that reports show of a value with `--show-values`.
    static var maximumLength: Int { 80 }

    /// Returns the beginning of a document's value at a path, in mongosh syntax; `nil` if there is none to show.
    ///
    /// A value in the `_id` is shown as the beginning of its hash if `_id`s are hashed, and not if they are hidden.
    func sample(_ value: BSONValue?, at path: SchemaPath) -> String? {
        let isID = path.steps.first == .field("_id")
        guard let whole = value.flatMap({ isID ? text($0) : $0.shellText }) else { return nil }
        return whole.count > Self.maximumLength ? whole.prefix(Self.maximumLength) + "…" : whole
    }
}
