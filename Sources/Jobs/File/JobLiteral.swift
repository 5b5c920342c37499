package import BSON
package import LocatedYAML
import ServerSchema
import Yams

/// Reads a constant of a job file: a YAML scalar, list or mapping, or extended JSON for the other BSON types.
package enum JobLiteral {
    /// Returns the constant that a YAML node of a job file represents.
    /// - Parameter operators: The names with a leading `$` that do not belong to extended JSON.
    /// - Throws: ``JobError`` with line and column.
    package static func value(_ node: YAMLNode, operators: Set<String> = []) throws(JobError) -> BSONValue {
        switch node.node {
        case .scalar(let scalar): return try self.scalar(scalar, node)
        case .sequence(let sequence):
            var values: [BSONValue] = []
            for element in sequence {
                values.append(try value(YAMLNode(node: element, file: node.file), operators: operators))
            }
            return .array(of: values)
        case .mapping(let mapping):
            let names = mapping.keys.compactMap(\.scalar?.string)
            if names.contains(where: { $0.hasPrefix("$") && !operators.contains($0) }) {
                return try extendedJSON(node)
            }
            var members: [(String, BSONValue)] = []
            for (key, member) in mapping {
                guard let name = key.scalar?.string, !name.utf8.contains(0) else {
                    throw YAMLNode(node: key, file: node.file).error("a field's name must be a text without a NUL")
                }
                members.append((name, try value(YAMLNode(node: member, file: node.file), operators: operators)))
            }
            return .object(BSONDocument(members))
        case .alias: throw node.error("a value cannot have aliases")
        }
    }

    /// Returns the value of a node that is a bool; `nil` for any other value.
    static func bool(_ node: YAMLNode) -> Bool? { (try? value(node))?.isTrue }

    /// Reads a scalar.
    ///
    /// A scalar that is a bool, null or a decimal number in YAML 1.2 becomes a value of that type. A number in another
    /// notation, such as `0x1F`, is refused. Every other scalar, such as `no` or `on`, becomes a text.
    private static func scalar(_ scalar: Node.Scalar, _ node: YAMLNode) throws(JobError) -> BSONValue {
        let text = scalar.string
        if let value = try tagged(scalar, node) { return value }
        guard scalar.style == .any || scalar.style == .plain else { return .string(text) }
        switch text {
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case "null", "Null", "NULL", "~", "": return .null
        default: break
        }
        // The tag is read from a new node, because reading a node's tag also sets the tag.
        let tag = Node(text, .implicit, .plain).tag.description
        if isInteger(text) {
            guard let number = Int(text) else { throw node.error("\(text) is beyond the range of a long: quote it") }
            return .integer(number)
        }
        if isFloat(text), !isInteger(text), let number = Double(text), number.isFinite { return .double(number) }
        guard !tag.hasSuffix(":float"), !tag.hasSuffix(":int") else {
            throw node.error(
                "\"\(text)\" is not a plain number: quote it, or use extended JSON like {$numberLong: \"1\"}")
        }
        return .string(text)
    }

    /// Returns the value of a scalar with a type tag, such as `!!str 1.50`; `nil` if it has no tag.
    private static func tagged(_ scalar: Node.Scalar, _ node: YAMLNode) throws(JobError) -> BSONValue? {
        let (text, tag) = (scalar.string, scalar.tag.description)
        let value: BSONValue?
        switch tag.isEmpty ? nil : tag.split(separator: ":").last.map(String.init) ?? tag {
        case nil: return .none
        case "str", "!": return .string(text)
        case "int": value = isInteger(text) ? Int(text).map { .integer($0) } : .none
        case "float":
            let number = isFloat(text) || isInteger(text) ? Double(text) : nil
            value = number.map { .double($0) }
        case "bool":
            let words = ["true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false]
            value = words[text].map { .bool($0) }
        case "null": value = ["null", "Null", "NULL", "~", ""].contains(text) ? .some(.null) : .none
        default:
            throw node.error(
                "a job file cannot have the tag \(tag): use str, int, float, bool, null, or extended JSON")
        }
        guard let value else { throw node.error("\"\(text)\" does not match its tag") }
        return value
    }

    /// Whether a text is an integer without a leading 0: `[-+]?(0|[1-9][0-9]*)`.
    ///
    /// A number with a leading 0 is octal in YAML 1.1 and decimal in YAML 1.2; users usually mean a text by it.
    private static func isInteger(_ text: String) -> Bool {
        let digits =
            text.utf8.first.map { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") } == true
            ? text.utf8.dropFirst() : text.utf8[...]
        guard let first = digits.first, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
        return first != 0x30 || digits.count == 1
    }

    /// Whether a text has only the characters of a decimal number, with at least one digit and with a point or an
    /// exponent.
    ///
    /// The result is false for `0x1F`, `inf` and `nan`, although `Double` accepts them.
    private static func isFloat(_ text: String) -> Bool {
        let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
        return isDecimal && text.utf8.contains { (0x30...0x39).contains($0) } && text.contains { ".eE".contains($0) }
    }

    private static func extendedJSON(_ node: YAMLNode) throws(JobError) -> BSONValue {
        do {
            let value = try BSONValue(extendedJSON: try json(node.node, node))
            if let name = value.document?.firstOperatorName {
                throw node.error("extended JSON has no type \"\(name)\"")
            }
            return value
        } catch let error as JobError {
            throw error
        } catch {
            throw node.error("\(error)")
        }
    }

    private static func json(_ node: Node, _ place: YAMLNode) throws(JobError) -> String {
        switch node {
        case .scalar(let scalar):
            let isText = scalar.style != .plain && scalar.style != .any
            let isBare = !isText && (Double(scalar.string) != nil || ["true", "false", "null"].contains(scalar.string))
            return isBare ? scalar.string : quoted(scalar.string)
        case .sequence(let sequence):
            var parts: [String] = []
            for element in sequence { parts.append(try json(element, place)) }
            return "[" + parts.joined(separator: ",") + "]"
        case .mapping(let mapping):
            var parts: [String] = []
            for (key, value) in mapping {
                let name = key.scalar?.string ?? ""
                if name == "$numberDecimal", let text = value.scalar?.string, Decimal128(text) == nil {
                    throw YAMLNode(node: value, file: place.file).error(
                        "\"\(text)\" is not a decimal of at most 34 digits")
                }
                let text = textMembers.contains(name) ? value.scalar?.string : nil
                parts.append(quoted(name) + ":" + (text == nil ? try json(value, place) : quoted(text ?? "")))
            }
            return "{" + parts.joined(separator: ",") + "}"
        case .alias: throw place.error("a value cannot have aliases")
        }
    }

    /// The members of extended JSON that are read as texts even without quotation marks: `{$numberDecimal: 1.50}`.
    private static let textMembers: Set = [
        "$oid", "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$uuid", "$symbol", "$code", "base64",
        "subType", "pattern", "options",
    ]

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension BSONDocument {
    /// The first name with a leading `$`, at any level, that extended JSON does not define as a type; `nil` if there is
    /// none.
    ///
    /// The names of a database reference, `{$ref, $id, $db}`, are allowed.
    fileprivate var firstOperatorName: String? {
        for (name, value) in (try? elements()) ?? [] {
            if name.hasPrefix("$"), !["$ref", "$id", "$db"].contains(name) { return name }
            if let inner = value.document?.firstOperatorName { return inner }
        }
        return nil
    }
}
