import LocatedYAML
import ServerSchema
import Yams

extension LocatedJSON {
    /// Converts a YAML node into a JSON value.
    /// - Throws: ``SchemaError`` for an alias, or for a key that is not a scalar.
    init(_ yaml: YAMLNode) throws(SchemaError) {
        let location = yaml.location
        switch yaml.node {
        case .scalar(let scalar): self.init(value: .scalar(JSONScalar(scalar)), location: location)
        case .sequence(let sequence):
            var elements: [LocatedJSON] = []
            for node in sequence { elements.append(try LocatedJSON(YAMLNode(node: node, file: yaml.file))) }
            self.init(value: .array(elements), location: location)
        case .mapping(let mapping):
            var members: [Member] = []
            for (key, value) in mapping {
                let place = YAMLNode(node: key, file: yaml.file).location
                guard let name = key.scalar?.string else {
                    throw SchemaError(.syntax, at: place, "a key must be a text, as in JSON")
                }
                let value = try LocatedJSON(YAMLNode(node: value, file: yaml.file))
                members.append(Member(name: name, nameLocation: place, value: value))
            }
            self.init(value: .object(members), location: location)
        case .alias:
            throw SchemaError(.unsupported, at: location, "aliases are not supported", remedy: "write out the value")
        }
    }
}

extension JSONScalar {
    /// Reads a scalar by the core schema of YAML 1.2, in which `no` is a text, with one difference: only decimal
    /// numbers become numbers, so `0x1F` and `.inf` are texts.
    fileprivate init(_ scalar: Node.Scalar) {
        let text = scalar.string
        guard scalar.style == .plain else {
            self = .string(text)
            return
        }
        switch text {
        case "", "~", "null", "Null", "NULL": self = .null
        case "true", "True", "TRUE": self = .bool(true)
        case "false", "False", "FALSE": self = .bool(false)
        default: self = Self.spelled(text).map { .number($0) } ?? .string(text)
        }
    }

    /// Returns the JSON text of a number; `nil` if the text is no decimal number.
    private static func spelled(_ text: String) -> String? {
        if let integer = Int(text) { return "\(integer)" }
        let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
        guard isDecimal, let number = Double(text), number.isFinite else { return nil }
        return "\(number)"
    }
}
