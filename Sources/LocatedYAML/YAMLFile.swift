internal import CYaml
package import ServerSchema
import Yams

/// Reads the YAML files that operators write by hand.
package enum YAMLFile {
    /// Returns the file's text.
    /// - Throws: ``LocatedError`` if the file cannot be read, has more than `limit` bytes, or is not UTF-8.
    package static func text(
        at path: String, limit: Int = SourceFile.largestSize
    ) throws(LocatedError) -> String {
        do throws(SchemaError) { return try SourceFile.text(of: path, limit: limit) } catch {
            throw LocatedError(error.description)
        }
    }

    /// Returns the root node of a YAML text.
    /// - Parameter path: the file's path, for messages.
    /// - Throws: ``LocatedError`` if the text is empty or contains only comments, is not YAML, contains an alias, or
    ///   exceeds ``YAMLBounds``.
    package static func root(of text: String, path: String) throws(LocatedError) -> YAMLNode {
        guard let root = try rootIfAny(of: text, path: path) else {
            throw LocatedError("the file is empty", at: SourceLocation(file: path, line: 1, column: 1))
        }
        return root
    }

    /// Returns the root node of a YAML text; `nil` if the text is empty or contains only comments.
    /// - Parameter path: the file's path, for messages.
    /// - Throws: ``LocatedError`` if the text is not YAML, contains an alias, or exceeds ``YAMLBounds``.
    package static func rootIfAny(of text: String, path: String) throws(LocatedError) -> YAMLNode? {
        try YAMLBounds.check(text, path: path)
        return try compose(text, path: path).map { YAMLNode(node: $0, file: path) }
    }

    /// Returns a text by which YAML texts are compared: it is equal for texts that differ only in comments and layout.
    ///
    /// The returned text contains the values, their types, and the order of the keys. A text that has no values, is not
    /// YAML, contains an alias, or exceeds ``YAMLBounds`` is returned as it is.
    /// - Parameter ignored: keys that do not count, each with the keys that lead to it, such as `steps.review`.
    package static func content(of text: String, without ignored: Set<String> = []) -> String {
        guard let root = try? rootIfAny(of: text, path: "") else { return text }
        return content(of: root.node, at: "", without: ignored)
    }

    private static func content(of node: Node, at path: String, without ignored: Set<String>) -> String {
        // Each text comes after its length, so that different contents never give the same result.
        func sized(_ text: String) -> String { "\(text.utf8.count):\(text)" }
        let tag = sized(node.tag.rawValue)
        return switch node {
        case .scalar(let scalar): "s\(tag)\(sized(scalar.string))"
        case .mapping(let mapping):
            content(of: mapping, tag, at: path, without: ignored)
        case .sequence(let sequence):
            "l\(tag)\(sequence.count):" + sequence.map { content(of: $0, at: path, without: ignored) }.joined()
        case .alias(let alias): "a\(tag)\(sized(alias.anchor.rawValue))"
        }
    }

    private static func content(
        of mapping: Node.Mapping, _ tag: String, at path: String, without ignored: Set<String>
    ) -> String {
        let entries = mapping.compactMap { key, value -> String? in
            let place = [path, key.string ?? ""].joined(separator: path.isEmpty ? "" : ".")
            guard !ignored.contains(place) else { return nil }
            return content(of: key, at: place, without: ignored) + content(of: value, at: place, without: ignored)
        }
        return "m\(tag)\(entries.count):" + entries.joined()
    }

    private static func compose(_ text: String, path: String) throws(LocatedError) -> Node? {
        func failure(_ problem: String, _ mark: Mark?) -> LocatedError {
            LocatedError(problem, at: SourceLocation(file: path, line: mark?.line ?? 1, column: mark?.column ?? 1))
        }
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            switch error {
            case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _):
                throw failure("not YAML: \(problem)", mark)
            case .composer(let context, let problem, let mark, _):
                throw failure("not YAML: " + (context.map { "\($0.text), " } ?? "") + problem, mark)
            case .duplicatedKeysInMapping(let duplicates, let context):
                throw failure("key given twice: \(duplicates.joined(separator: ", "))", context.mark)
            default: throw failure("not YAML: \(error)", nil)
            }
        } catch {
            throw failure("not YAML: \(error)", nil)
        }
    }
}

/// The limits of a YAML text, which are checked before any node is created.
enum YAMLBounds {
    /// The limit on the number of values and keys of a file together.
    ///
    /// Each value and each key takes some hundred bytes of memory.
    private static let maximumNodes = 250_000
    /// The limit on the levels of nested lists and mappings.
    private static let maximumLevels = 100

    /// Throws an error for a text that exceeds a limit or contains an alias.
    ///
    /// With aliases, a file of 500 bytes can expand to gigabytes. A text that is not YAML causes no error here: when it
    /// is parsed afterwards, the error states the reason.
    /// - Throws: ``LocatedError`` at the alias, or at the first value beyond a limit.
    static func check(_ text: String, path: String) throws(LocatedError) {
        var text = text
        let refusal = text.withUTF8 { unsafe Self.refusal(of: $0, path: path) }
        if let refusal { throw refusal }
    }

    private static func refusal(of bytes: UnsafeBufferPointer<UInt8>, path: String) -> LocatedError? {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { unsafe parser.deallocate() }
        guard unsafe yaml_parser_initialize(parser) == 1 else { return nil }
        defer { unsafe yaml_parser_delete(parser) }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
        var (nodes, level) = (0, 0)
        while true {
            var event = unsafe yaml_event_t()
            guard unsafe yaml_parser_parse(parser, &event) == 1 else { return nil }
            defer { unsafe yaml_event_delete(&event) }
            let mark = unsafe event.start_mark
            let place = SourceLocation(file: path, line: Int(mark.line) + 1, column: Int(mark.column) + 1)
            switch unsafe event.type {
            case YAML_ALIAS_EVENT:
                return LocatedError("aliases are not supported: write out the value that this one refers to", at: place)
            case YAML_SCALAR_EVENT: nodes += 1
            case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT:
                nodes += 1
                level += 1
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: level -= 1
            case YAML_STREAM_END_EVENT: return nil
            default: break
            }
            guard level <= maximumLevels else {
                return LocatedError("values are nested deeper than \(maximumLevels) levels", at: place)
            }
            guard nodes <= maximumNodes else {
                return LocatedError("the file holds more than \(maximumNodes) values: divide it", at: place)
            }
        }
    }
}

/// An error in a file that the operator wrote: the problem, its position, and how to solve it.
package struct LocatedError: Error, Hashable, Sendable {
    /// The position in the file; `nil` if the file could not be read, or if an environment variable has the error.
    package let location: SourceLocation?
    /// A message that says what is wrong, and how to correct it.
    package let message: String
    /// Whether the file is well formed, but requests something that can never work.
    package let isConfiguration: Bool

    package init(_ message: String, at location: SourceLocation? = nil, isConfiguration: Bool = false) {
        self.location = location
        self.message = message
        self.isConfiguration = isConfiguration
    }
}

extension LocatedError: CustomStringConvertible {
    /// The error as text: `file:line:column: message`.
    package var description: String {
        location.map { "\($0.file):\($0.line):\($0.column): \(message)" } ?? message
    }
}
