import BSON
import ServerSchema

/// A value of a document, as reports show it if the operator asked for values.
struct SampleValue {
    /// The maximum number of characters that are shown of a value.
    static var maximumLength: Int { 80 }

    /// The beginning of the value in mongosh syntax, or of the hash of a value in the `_id`; `nil` if there is no
    /// value, or if it is in the `_id` and `_id`s are hidden.
    let text: String?

    /// Creates the text for the value at a path of a document.
    /// - Parameter ids: How `_id`s are shown. A value at or below the path `_id` is shown in the same way.
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
