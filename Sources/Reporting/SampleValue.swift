import BSON
import ServerSchema

/// A value of a document, in the form in which reports show it with `--show-values`.
struct SampleValue {
    /// The maximum number of characters that are shown of a value.
    static var maximumLength: Int { 80 }

    /// The beginning of the value in mongosh syntax.
    ///
    /// If `_id`s are hashed, a value in the `_id` is shown as the beginning of its hash.
    ///
    /// `nil` if there is no value, or if the value is in the `_id` and `_id`s are hidden.
    let text: String?

    /// Creates the text for the value at a path of a document.
    /// - Parameter ids: How the value is shown if it is the `_id` or a part of it; has no effect on other values.
    init(_ value: BSONValue?, at path: SchemaPath, ids: IDDisplay) {
        guard let value else {
            text = nil
            return
        }
        let isID = path.steps.first == .field("_id")
        guard let whole = isID ? ids.text(value) : ShellLiteral.text(value) else {
            text = nil
            return
        }
        text = whole.count > Self.maximumLength ? whole.prefix(Self.maximumLength) + "…" : whole
    }

}
