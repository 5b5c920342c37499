import BSON
import LocatedYAML

/// A text with field names in braces, which are replaced by values: `{firstName} {lastName}`.
///
/// A brace that belongs to the text is written twice: `{{` or `}}`.
package struct TextTemplate: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case text(String)
        /// A field name, which is in braces in the template.
        case hole(String)
    }

    let parts: [Part]

    /// The field names in the template, in the order of the text.
    var holes: [String] {
        parts.compactMap { if case .hole(let name) = $0 { name } else { nil } }
    }

    init(_ node: YAMLNode, key: String) throws(JobError) {
        let text = try node.text(of: "\"\(key)\"")
        var parts: [Part] = []
        var plain = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                plain.append(character)
                rest = rest.dropFirst()
            case "{":
                guard let end = rest.firstIndex(of: "}"), end != rest.startIndex else {
                    throw node.error(
                        "\"\(key)\": a \"{\" opens a field's name that no \"}\" ends; a plain { is written {{")
                }
                if !plain.isEmpty { parts.append(.text(plain)) }
                plain = ""
                parts.append(.hole(String(rest[..<end])))
                rest = rest[end...].dropFirst()
            case "}": throw node.error("\"\(key)\": a \"}\" without a \"{\"; a plain } is written }}")
            default: plain.append(character)
            }
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
        guard !holes.isEmpty else { throw node.error("\"\(key)\" names no field in braces, like \"{firstName}\"") }
    }

    /// Returns an expression for the text with a value in place of each field name.
    /// - Parameter value: returns, for a field name, an expression for the text that replaces the name.
    func filled(with value: (String) -> Expression) -> Expression {
        Expression([
            "$concat": .array(
                of: parts.map { part in
                    switch part {
                    case .text(let text): Expression.constant(.string(text)).bson
                    case .hole(let name): value(name).bson
                    }
                })
        ])
    }
}
