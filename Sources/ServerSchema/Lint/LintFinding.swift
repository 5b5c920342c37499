public import BSON

/// Something about a schema that keeps its documents from syncing, or is likely to.
public struct LintFinding: Hashable, Sendable {
    /// How bad it is.
    public enum Level: String, Hashable, Sendable, Comparable, CaseIterable {
        /// The schema cannot sync as it is.
        case error
        /// The schema syncs, and is likely to give trouble.
        case warning
        /// Worth knowing.
        case info

        /// The worse one is less.
        public static func < (left: Level, right: Level) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    /// The rule that is not met.
    public var code: Code
    /// How bad it is.
    public var level: Level
    /// The collection whose schema it is about; `nil` when it is about the app.
    public var namespace: Namespace?
    /// The place in that schema.
    public var path: SchemaPath
    /// Where it stands.
    public var location: SourceLocation
    /// What is wrong, as one clause.
    public var message: String
    /// What to do about it, as one clause.
    public var remedy: String?

    /// Joins the parts.
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
    /// `file:line:column: level code: path: message (remedy)`.
    public var description: String {
        let place = path.isRoot ? "" : "\(path): "
        return "\(location): \(level.rawValue) \(code): \(place)\(message)" + (remedy.map { " (\($0))" } ?? "")
    }
}

extension LintFinding: Comparable {
    /// By file, then the worst first, then by place.
    public static func < (left: LintFinding, right: LintFinding) -> Bool { left.order < right.order }

    private var order: (String, Level, Int, Int, String, String) {
        (location.file, level, location.line, location.column, code.rawValue, message)
    }
}
