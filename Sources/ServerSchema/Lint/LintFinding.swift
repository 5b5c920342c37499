public import BSON

/// A problem that lint found in a schema, in an app or in a deployment.
public struct LintFinding: Hashable, Sendable {
    /// The severity of a finding.
    public enum Level: String, Hashable, Sendable, Comparable, CaseIterable {
        /// The schema, the app or the deployment does not work as it is: for example, it cannot sync.
        case error
        /// The schema works, but is likely to cause trouble.
        case warning
        /// The finding is for information only; nothing has to change.
        case info

        /// Orders levels from the most severe to the least severe.
        public static func < (left: Level, right: Level) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    /// The rule that reports the problem.
    public var code: Code
    /// The severity of the problem.
    public var level: Level
    /// The collection that has the problem; `nil` if the problem is not in a single collection.
    public var namespace: Namespace?
    /// The path, within the collection's schema, of the part that has the problem.
    public var path: SchemaPath
    /// The position of the problem in the file; for a problem of the deployment itself, the name of the deployment.
    public var location: SourceLocation
    /// A clause that says what is wrong.
    public var message: String
    /// A clause that says what to do about the problem; `nil` if there is no advice.
    public var remedy: String?

    /// Creates a finding from its parts.
    public init(
        _ code: Code, _ level: Level, namespace: Namespace? = nil, path: SchemaPath = SchemaPath(),
        at location: SourceLocation, _ message: String, remedy: String? = nil
    ) {
        self.code = code
        self.level = level
        self.namespace = namespace
        self.path = path
        self.location = location
        self.message = message
        self.remedy = remedy
    }
}

extension LintFinding: CustomStringConvertible {
    /// The finding as text: `file:line:column: level code: path: message (remedy)`.
    public var description: String {
        let place = path.isRoot ? "" : "\(path): "
        return "\(location): \(level.rawValue) \(code): \(place)\(message)" + (remedy.map { " (\($0))" } ?? "")
    }
}

extension LintFinding: Comparable {
    /// Orders findings by file, then from the most severe level to the least severe, then by position in the file.
    public static func < (left: LintFinding, right: LintFinding) -> Bool { left.order < right.order }

    private var order: (String, Level, Int, Int, String, String) {
        (location.file, level, location.line, location.column, code.rawValue, message)
    }
}
