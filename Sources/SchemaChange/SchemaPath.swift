/// A place in a schema: `orders[].lines[].price`, `settings{}`.
public struct SchemaPath: Hashable, Sendable {
    /// One step down.
    public enum Step: Hashable, Sendable {
        /// Into a property.
        case field(String)
        /// Into the elements of a list or a set.
        case elements
        /// Into the values of a dictionary.
        case values
    }

    /// The steps from the root.
    public let steps: [Step]

    /// Joins the steps.
    public init(_ steps: [Step] = []) { self.steps = steps }

    /// Whether it is the place of the documents themselves.
    public var isRoot: Bool { steps.isEmpty }

    func appending(_ step: Step) -> SchemaPath { SchemaPath(steps + [step]) }
}

extension SchemaPath: CustomStringConvertible {
    /// The text that reports show; a name that would read as several steps stands in quotation marks, and the root
    /// is `(root)`.
    public var description: String {
        guard !isRoot else { return "(root)" }
        var text = ""
        for step in steps {
            switch step {
            case .field(let name): text += (text.isEmpty ? "" : ".") + (Self.isPlain(name) ? name : "\"\(name)\"")
            case .elements: text += "[]"
            case .values: text += "{}"
            }
        }
        return text
    }

    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains { [UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "{")].contains($0) }
    }
}
