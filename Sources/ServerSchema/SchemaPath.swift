/// A path to a part of a schema, and to the values that the part describes, such as `orders[].lines[].price`.
///
/// A path contains no array indexes and no dictionary keys: one path leads to all elements of an array, or to all
/// values of a dictionary, as in `settings{}`.
public struct SchemaPath: Hashable, Sendable {
    /// One step from a value to a value inside it.
    public enum Step: Hashable, Sendable {
        /// The step from an object into the field with this name.
        case field(String)
        /// The step from an array into each of its elements.
        case elements
        /// The step from a dictionary into each of its values.
        case values
    }

    /// The steps of the path, from the root of the schema.
    public let steps: [Step]

    /// Creates a path from its steps.
    public init(_ steps: [Step] = []) { self.steps = steps }

    /// Whether the path has no steps, and thus leads to the documents themselves.
    public var isRoot: Bool { steps.isEmpty }

    /// The names of the fields on the path, up to the first array or dictionary.
    package var leadingFields: [String] {
        steps.prefix { if case .field = $0 { true } else { false } }.compactMap { step in
            if case .field(let name) = step { name } else { nil }
        }
    }

    /// Returns the path with one more step at its end.
    package func appending(_ step: Step) -> SchemaPath { SchemaPath(steps + [step]) }
    package func appending(_ more: [Step]) -> SchemaPath { more.isEmpty ? self : SchemaPath(steps + more) }
}

extension SchemaPath: CustomStringConvertible {
    /// The path as reports show it.
    ///
    /// The root is `(root)`. A field name is quoted if it is empty or contains a character that begins another step.
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

extension SchemaPath: Comparable {
    /// Orders paths by their text.
    public static func < (left: SchemaPath, right: SchemaPath) -> Bool { left.description < right.description }
}

extension SchemaPath {
    /// Reads a path from the text that ``description`` shows.
    package init(shown text: String) {
        guard text != "(root)" else {
            self.init()
            return
        }
        var steps: [Step] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            if rest.hasPrefix("[]") || rest.hasPrefix("{}") {
                steps.append(rest.hasPrefix("[]") ? .elements : .values)
                rest = rest.dropFirst(2)
            } else if rest.hasPrefix("\""), let end = Self.endOfName(in: rest) {
                steps.append(.field(String(rest[rest.index(after: rest.startIndex)..<end])))
                rest = rest[rest.index(after: end)...]
            } else {
                let name = rest.prefix { $0 != "." && $0 != "[" && $0 != "{" }
                if !name.isEmpty { steps.append(.field(String(name))) }
                rest = name.isEmpty ? rest.dropFirst() : rest[name.endIndex...]
            }
            if rest.hasPrefix(".") { rest = rest.dropFirst() }
        }
        self.init(steps)
    }

    /// Returns the index of the quotation mark that ends a quoted name.
    ///
    /// The name ends at the first quotation mark that is followed by another step or by the end of the text.
    private static func endOfName(in text: Substring) -> Substring.Index? {
        text.indices.dropFirst().first { index in
            let next = text[text.index(after: index)...]
            return text[index] == "\"" && (next.isEmpty || [".", "[]", "{}"].contains { next.hasPrefix($0) })
        }
    }
}
