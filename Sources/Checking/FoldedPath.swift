/// The place of a finding, with array indexes and dictionary keys folded: `orders[].lines[].price`, `settings{}`.
public struct FoldedPath: Hashable, Sendable {
    /// One step down.
    public enum Step: Hashable, Sendable {
        /// Into a field.
        case field(String)
        /// Into every element of an array.
        case elements
        /// Into every value of a dictionary.
        case values
    }

    /// The steps from the document's root.
    public let steps: [Step]

    /// Joins the steps.
    public init(_ steps: [Step] = []) { self.steps = steps }

    func appending(_ step: Step) -> FoldedPath { FoldedPath(steps + [step]) }
    func appending(_ more: [Step]) -> FoldedPath { more.isEmpty ? self : FoldedPath(steps + more) }
}

extension FoldedPath: CustomStringConvertible {
    /// The text that reports show; a name that would read as several steps stands in quotation marks, and the root
    /// is `(root)`.
    public var description: String {
        guard !steps.isEmpty else { return "(root)" }
        var text = ""
        for step in steps {
            switch step {
            case .field(let name):
                if !text.isEmpty { text += "." }
                text += Self.isPlain(name) ? name : "\"\(name)\""
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

extension FoldedPath: Comparable {
    /// By the text.
    public static func < (left: FoldedPath, right: FoldedPath) -> Bool { left.description < right.description }
}
