import ServerSchema
import Yams

/// Reads the YAML files that operators write by hand.
package enum YAMLFile {
    /// The file's text.
    /// - Throws: ``LocatedError`` when it cannot be read, has more than `limit` bytes, or is not UTF-8.
    package static func text(
        at path: String, limit: Int = SourceFile.largestSize
    ) throws(LocatedError) -> String {
        do throws(SchemaError) { return try SourceFile.text(of: path, limit: limit) } catch {
            throw LocatedError(error.description)
        }
    }

    /// The node that the text holds; `path` is for messages.
    /// - Throws: ``LocatedError`` when the text is not YAML, or empty.
    package static func root(of text: String, path: String) throws(LocatedError) -> YAMLNode {
        guard let root = try rootIfAny(of: text, path: path) else {
            throw LocatedError("the file is empty", at: SourceLocation(file: path, line: 1, column: 1))
        }
        return root
    }

    /// The node that the text holds; `nil` when it is empty, or holds only comments.
    /// - Throws: ``LocatedError`` when the text is not YAML, holds an alias, or is beyond what such a file may hold.
    package static func rootIfAny(of text: String, path: String) throws(LocatedError) -> YAMLNode? {
        try YAMLBounds.check(text, path: path)
        return try compose(text, path: path).map { YAMLNode(node: $0, file: path) }
    }

    /// Whether two texts say the same, whatever their comments and their layout are.
    package static func areEqualButForComments(_ one: String, _ other: String) -> Bool {
        guard let one = try? Yams.compose(yaml: one), let other = try? Yams.compose(yaml: other) else { return false }
        return one == other
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
