/// The environment values of an app.
///
/// Strings in the app's configuration files refer to a value by `%(%%environment.values.KEY)`. Source: the App Services
/// documentation, "Create Template Configurations with Expansions".
struct EnvironmentValues: Sendable {
    /// The path, within the app's folder, of the file that holds the values.
    let file: String
    /// The values in ``file``; `nil` if the file does not exist.
    let values: LocatedJSON?

    private static let opening = "%(%%environment.values."

    /// Whether a file's bytes contain the beginning of a reference to an environment value.
    static func mayOccur(in bytes: [UInt8]) -> Bool { bytes.span.contains(Array(opening.utf8)) }

    /// Returns the JSON with the references in its strings replaced by their environment values.
    /// - Parameter environment: the app's values; `nil` if the JSON is from a file that belongs to no app.
    /// - Throws: ``SchemaError`` at a string with a reference that is not closed, has no value, or has a value that is
    ///   not a string.
    static func expand(_ json: LocatedJSON, from environment: EnvironmentValues?) throws(SchemaError) -> LocatedJSON {
        var result = json
        switch json.value {
        case .scalar(.string(let text)) where text.contains(opening):
            result.value = .scalar(.string(try expand(text, at: json.location, from: environment)))
        case .array(let elements):
            var expanded: [LocatedJSON] = []
            for element in elements { expanded.append(try expand(element, from: environment)) }
            result.value = .array(expanded)
        case .object(var members):
            for index in members.indices { members[index].value = try expand(members[index].value, from: environment) }
            result.value = .object(members)
        default: break
        }
        return result
    }

    private static func expand(
        _ text: String, at location: SourceLocation, from environment: EnvironmentValues?
    ) throws(SchemaError) -> String {
        var result = ""
        var rest = Substring(text)
        while let start = rest.firstRange(of: opening) {
            result += rest[..<start.lowerBound]
            guard let end = rest[start.upperBound...].firstIndex(of: ")") else {
                throw SchemaError(
                    .expansion, at: location, "the expansion in this text is not closed", remedy: "write the missing )")
            }
            result += try value(of: String(rest[start.upperBound..<end]), at: location, from: environment)
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func value(
        of key: String, at location: SourceLocation, from environment: EnvironmentValues?
    ) throws(SchemaError) -> String {
        guard let environment else {
            throw SchemaError(
                .expansion, at: location,
                "the environment value \"\(key)\" is not known without the app's configuration",
                remedy: "give the app's folder")
        }
        guard let values = environment.values else {
            throw SchemaError(
                .expansion, at: location, "the environment value \"\(key)\" is not defined",
                remedy: "there is no \(environment.file)")
        }
        guard let value = key.split(separator: ".").reduce(values, { $0?[String($1)] }) ?? values[key] else {
            let names = values.members?.map(\.name) ?? []
            throw SchemaError(
                .expansion, at: location, "the environment value \"\(key)\" is not defined in \(environment.file)",
                remedy: Spelling.hint(for: key, among: names) ?? "define it there")
        }
        guard let text = value.text else {
            throw SchemaError(
                .expansion, at: location,
                "the environment value \"\(key)\" is \(value.kind), and only text can be used",
                remedy: "it is defined at \(value.location)")
        }
        return text
    }
}

extension Span<UInt8> {
    fileprivate func contains(_ needle: [UInt8]) -> Bool {
        guard count >= needle.count else { return false }
        return (0...(count - needle.count)).contains { start in
            needle.indices.allSatisfy { self[start + $0] == needle[$0] }
        }
    }
}
