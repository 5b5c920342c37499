/// A result for machines: one JSON object, whose keys always stand in the same order, or as JSON lines.
package struct JSONReport: Sendable {
    /// What a reader has to know first: the shape's version, the program's, the command.
    private let head: [(String, ReportValue)]
    private let members: [(String, ReportValue)]

    /// - Parameters:
    ///   - version: the version of the shape, which changes when a reader of the old one would misread the new one.
    ///   - members: all the rest.
    init(_ command: String, version: Int = 1, _ members: [(String, ReportValue)]) {
        head = Self.head(command, version: version)
        self.members = members
    }

    /// The beginning of everything that is for machines.
    /// - Parameter command: the command; `nil` for what is of none.
    static func head(_ command: String? = nil, version: Int = 1) -> [(String, ReportValue)] {
        [
            ("schema_version", .integer(version)), ("tool_version", .string(Release.version)),
            ("commit", Release.commit.map { .string($0) } ?? .null),
        ] + [command].compactMap(\.self).map { ("command", .string($0)) }
    }

    var value: ReportValue { .object(head + members) }

    /// The object, indented, which ends with a line break.
    package var text: String { value.text() + "\n" }

    /// A line for each thing that was found, between the `header` and the `result`.
    ///
    /// What stands in a list has a line of its own, and what was found in a collection follows the collection's line.
    package var lines: String {
        var records: [(String, [(String, ReportValue)])] = []
        var header = head
        var result: [(String, ReportValue)] = []
        for (key, value) in members {
            if case .array(let elements) = value, let record = Self.records[key] {
                records += elements.flatMap { Self.split($0, record, within: []) }
            } else if Self.circumstances.contains(key) {
                header.append((key, value))
            } else if case .object(let parts) = value, Self.results.contains(key) {
                result += parts
            } else {
                result.append((key, value))
            }
        }
        return ([("header", header)] + records + [("result", result)]).map { record, members in
            ReportValue.object([("record", .string(record))] + members).line + "\n"
        }.joined()
    }

    private static func split(
        _ element: ReportValue, _ record: String, within place: [(String, ReportValue)]
    ) -> [(String, [(String, ReportValue)])] {
        guard case .object(let members) = element else { return [(record, [("text", element)])] }
        var (own, below): ([(String, ReportValue)], [(String, ReportValue)]) = ([], [])
        for member in members {
            if nested.contains(member.0) { below.append(member) } else { own.append(member) }
        }
        let names = place + own.filter { Self.names.contains($0.0) }
        return [(record, place + own)]
            + below.flatMap { key, value -> [(String, [(String, ReportValue)])] in
                guard case .array(let elements) = value else { return [] }
                return elements.flatMap { split($0, records[key] ?? key, within: names) }
            }
    }

    /// What a line is called, by the list that it is from.
    private static let records = [
        "changes": "change", "hints": "hint", "notes": "note", "collections": "collection", "groups": "finding",
        "removed_collections": "removed_collection", "findings": "finding", "apps": "app", "jobs": "job",
        "entries": "step", "remarks": "remark", "validators": "validator", "failures": "skipped", "steps": "step",
        "samples": "sample", "waits": "wait", "runs": "run", "left_alone": "left_alone", "not_fitting": "finding",
        "paths": "path", "databases": "database",
    ]
    /// The lists whose elements have lines of their own below that of what holds them.
    private static let nested: Set = ["groups", "collections", "entries", "not_fitting", "paths"]
    /// What names the thing that such a line belongs to.
    private static let names: Set = ["app", "job", "database", "collection"]
    /// What is known before anything is found.
    private static let circumstances: Set = [
        "dialect", "source", "schema", "active", "old", "new", "job", "database", "collection", "cover", "strict",
        "folder",
    ]
    /// The objects whose parts are the result themselves.
    private static let results: Set = ["verdict", "counts"]
}
