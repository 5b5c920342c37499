import BSON
public import ServerSchema

/// One thing to say at a place of a file, as tools that show results beside the code take it.
public struct Annotation: Hashable, Sendable {
    /// How grave it is.
    public enum Level: String, Hashable, Sendable {
        case error, warning, notice
    }

    /// How grave it is.
    public var level: Level
    /// Where it is; `nil` when it is of no file.
    public var place: SourceLocation?
    /// What kind of thing it is.
    public var title: String
    /// What is to be said; it may have several lines.
    public var message: String

    /// Joins the parts.
    public init(_ level: Level, at place: SourceLocation? = nil, title: String, message: String) {
        self.level = level
        self.place = place
        self.title = title
        self.message = message
    }
}

/// Annotations as GitHub's workflow commands: a line each, which the runner shows in the pull request.
///
/// Source: GitHub's documentation, "Workflow commands for GitHub Actions".
public struct GitHubAnnotations: Sendable {
    private let annotations: [Annotation]

    /// Wraps annotations.
    public init(_ annotations: [Annotation]) { self.annotations = annotations }

    /// The commands, each with a line break.
    public var text: String { annotations.map { line($0) + "\n" }.joined() }

    private func line(_ annotation: Annotation) -> String {
        var properties: [(String, String)] = []
        if let place = annotation.place {
            properties.append(("file", place.file))
            if place.line > 0 { properties += [("line", "\(place.line)"), ("col", "\(place.column)")] }
        }
        properties.append(("title", annotation.title))
        let list = properties.map { "\($0)=\(Self.property($1))" }.joined(separator: ",")
        return "::\(annotation.level.rawValue) \(list)::\(Self.data(annotation.message))"
    }

    private static func data(_ text: String) -> String { escaping("%\r\n", in: text) }

    private static func property(_ text: String) -> String { escaping("%\r\n:,", in: text) }

    /// Scalar by scalar: as characters, a carriage return and a line feed are one.
    private static func escaping(_ special: String, in text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.misleads && scalar != "\n" && scalar != "\r" || scalar == "#" && result.last == "#" {
                result += scalar.escapedAsJSON
            } else if special.unicodeScalars.contains(scalar) {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "%" + (digits.count < 2 ? "0" : "") + digits
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
