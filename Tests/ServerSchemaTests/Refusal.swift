import ServerSchema
import Testing

/// The text of a schema that must be refused, with the exact error.
struct Refusal: CustomTestStringConvertible {
    let text: String
    let error: String
    var testDescription: String { error }

    init(_ text: String, _ error: String) {
        self.text = text
        self.error = error
    }

    func check(_ run: (String) throws(SchemaError) -> Void) -> String? {
        do throws(SchemaError) {
            try run(text)
            return nil
        } catch {
            return error.description
        }
    }
}
