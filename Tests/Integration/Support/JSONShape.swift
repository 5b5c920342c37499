import Foundation
import Synchronization
import SystemPackage
import Testing

/// A JSON value.
enum JSONValue: Hashable, Decodable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null

    init(_ text: String) throws { self = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let elements = try? value.decode([JSONValue].self) {
            self = .array(elements)
        } else {
            self = .object(try value.decode([String: JSONValue].self))
        }
    }

    subscript(key: String) -> JSONValue? { if case .object(let members) = self { members[key] } else { nil } }

    var text: String? { if case .string(let text) = self { text } else { nil } }
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

    fileprivate var types: Set<String> {
        switch self {
        case .object: ["object"]
        case .array: ["array"]
        case .string: ["string"]
        case .number(let number): number == number.rounded() ? ["integer", "number"] : ["number"]
        case .bool: ["boolean"]
        case .null: ["null"]
        }
    }
}

/// A JSON Schema in `docs/reference/json`, and an evaluator for the part of draft 7 that these schemas use.
struct JSONShape {
    private let root: JSONValue

    /// The keywords that `defects` evaluates, and keywords that state no rule, such as `title`.
    private static let keywords: Set = [
        "type", "const", "enum", "anyOf", "$ref", "properties", "required", "additionalProperties", "items",
        "$schema", "title", "description", "definitions",
    ]

    /// Reads the JSON Schema for the output of a command such as `check`.
    init(_ name: String) throws {
        let path = Repository.path("docs/reference/json/\(name).schema.json").string
        root = try JSONValue(String(contentsOfFile: path, encoding: .utf8))
    }

    /// Returns each difference of a value from the schema, with its path; empty if the value fits.
    func defects(of value: JSONValue) -> [String] { defects(of: value, by: root, at: "$") }

    private func defects(of value: JSONValue, by schema: JSONValue, at place: String) -> [String] {
        guard case .object(let rules) = schema else {
            return schema == .bool(false) ? ["\(place): nothing may be here"] : []
        }
        var defects = rules.keys.filter { !Self.keywords.contains($0) }.map {
            "\(place): the checker does not know \($0)"
        }
        if let name = rules["$ref"]?.text?.split(separator: "/").last {
            defects += self.defects(of: value, by: root["definitions"]?[String(name)] ?? .bool(false), at: place)
        }
        if let type = rules["type"] {
            let allowed = Set((type.text.map { [$0] } ?? type.elements.compactMap(\.text)))
            if allowed.isDisjoint(with: value.types) {
                defects.append("\(place): \(value) is none of \(allowed.sorted())")
            }
        }
        if let constant = rules["const"], constant != value { defects.append("\(place): \(value) is not \(constant)") }
        if let values = rules["enum"]?.elements, !values.contains(value) {
            defects.append("\(place): \(value) is not listed")
        }
        if let choices = rules["anyOf"]?.elements {
            let each = choices.map { self.defects(of: value, by: $0, at: place) }
            // If no alternative fits, the differences from the most similar alternative are reported.
            if !each.contains([]) { defects += each.min { $0.count < $1.count } ?? [] }
        }
        if case .object(let members) = value {
            defects += (rules["required"]?.elements ?? []).compactMap(\.text).filter { members[$0] == nil }
                .map { "\(place): \($0) is missing" }
            for (key, member) in members {
                let rule = rules["properties"]?[key] ?? rules["additionalProperties"] ?? .bool(true)
                defects += self.defects(of: member, by: rule, at: "\(place).\(key)")
            }
        }
        if let items = rules["items"] {
            for (index, element) in value.elements.enumerated() {
                defects += self.defects(of: element, by: items, at: "\(place)[\(index)]")
            }
        }
        return defects
    }

    /// The schemas that were read so far, by the names of their commands.
    private static let shapes = Mutex<[String: JSONShape]>([:])

    /// Checks the program's JSON output against the schema of its command, and its JSON errors against the error
    /// schema.
    static func check(_ run: ProgramRun, _ arguments: [String]) throws {
        for (text, isError) in [(run.output, false)] + run.errorLines.map({ (String($0), true) }) {
            guard text.hasPrefix("{"), !text.hasPrefix("{\"record\""), text.prefix(40).contains("\"schema_version\"")
            else { continue }
            let value = try JSONValue(text)
            let name = isError ? "error" : value["command"]?.text ?? ""
            let shape = try shapes.withLock { shapes in
                if let known = shapes[name] { return known }
                let shape = try JSONShape(name.replacing(" ", with: "-"))
                shapes[name] = shape
                return shape
            }
            let defects = shape.defects(of: value)
            if !defects.isEmpty {
                Issue.record(
                    "\(arguments.prefix(3)): the JSON is not as docs/reference/json has it: \(defects.prefix(5))")
            }
        }
    }
}
