import BSON
import ServerSchema

/// A document's value, as it is shown where the operator asked for values.
struct SampleValue {
    /// The characters that are shown of a value.
    static var maximumLength: Int { 80 }

    /// The beginning of the value as mongosh writes it; `nil` where there is none to show.
    let text: String?

    /// - Parameter ids: How `_id`s are shown: the value at `_id` is one.
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

    /// For machines.
    var json: ReportValue { text.map { .string($0) } ?? .null }
}
