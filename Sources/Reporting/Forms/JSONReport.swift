/// A command's result as JSON: one object with its keys in a fixed order, or JSON lines.
package struct JSONReport: Sendable {
    private let head: ReportValue
    private let object: ReportValue

    /// Creates the result of a command.
    /// - Parameters:
    ///   - version: the version of the format. It changes only if a reader of the old format would misread the new one.
    ///   - object: an object with the members that follow those of ``head(_:version:)``.
    init(_ command: String, version: Int = 1, _ object: ReportValue) {
        head = Self.head(command, version: version)
        self.object = object
    }

    /// Returns the members that every JSON report has: the versions, the commit and, if there is one, the command.
    /// - Parameter command: the command; `nil` for a report that belongs to no command.
    static func head(_ command: String? = nil, version: Int = 1) -> ReportValue {
        ["schema_version": version, "tool_version": Release.version, "commit": Release.commit]
            + (command.map { ["command": $0] } ?? [:])
    }

    var value: ReportValue { head + object }

    /// The JSON text of the object, indented; it ends with a line break.
    package var text: String { value.text() + "\n" }

    /// The result as JSON lines: the `header`, a line for each element of the object's lists, and the `result`.
    ///
    /// The findings of a collection follow the collection's line.
    package var lines: String {
        var records: [(String, [(String, ReportValue)])] = []
        var header = head.members
        var result: [(String, ReportValue)] = []
        for (key, value) in object.members {
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
            (ReportValue.record(record) + .object(members)).line + "\n"
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

    /// The value of the key `record` in the lines of each list, by the list's key; other lists have no lines.
    private static let records = [
        "changes": "change", "hints": "hint", "notes": "note", "collections": "collection", "groups": "finding",
        "removed_collections": "removed_collection", "findings": "finding", "apps": "app", "jobs": "job",
        "entries": "step", "remarks": "remark", "validators": "validator", "failures": "skipped", "steps": "step",
        "samples": "sample", "waits": "wait", "runs": "run", "left_alone": "left_alone", "not_fitting": "finding",
        "paths": "path", "databases": "database", "differences": "difference", "anomalies": "anomaly",
        "versions": "version", "refused": "refusal", "files": "file",
        "settings": "setting", "environments": "environment", "checks": "check",
    ]
    /// The keys of lists inside an element of another list, whose lines follow the line of that element.
    private static let nested: Set = ["groups", "collections", "entries", "not_fitting", "paths"]
    /// The keys that each line of an inner list repeats from the element that contains the list.
    private static let names: Set = ["app", "job", "database", "collection"]
    /// The keys whose values are in the `header` line of JSON lines, because the command knows these values before the
    /// first finding.
    private static let circumstances: Set = [
        "dialect", "engine", "has_schema", "source", "schema", "active", "old", "new", "job", "database", "collection",
        "cover", "strict", "folder", "partner", "ledger", "language",
    ]
    /// The keys of objects whose members are directly in the `result` line, without the key.
    private static let results: Set = ["verdict", "counts"]
}
