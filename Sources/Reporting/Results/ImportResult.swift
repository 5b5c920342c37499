package import BSON
package import Importing
import ServerSchema

/// The result of `schema import`, in every output format.
package struct ImportResult: Reportable {
    private let source: String
    private let imported: ImportedSchema
    /// The collection that the validator is meant for; `nil` if the user named none.
    private let namespace: Namespace?
    /// The file that the validator was written to; `nil` for standard output.
    private let file: String?
    /// Whether the user wants strings with a format, such as dates, to stay strings in the validator.
    private let keepsStrings: Bool

    package init(
        _ imported: ImportedSchema, from source: String, for namespace: Namespace?, in file: String?, keepsStrings: Bool
    ) {
        (self.imported, self.source, self.namespace, self.file) = (imported, source, namespace, file)
        self.keepsStrings = keepsStrings
    }

    package var json: JSONReport {
        JSONReport(
            "schema import",
            [
                "source": source, "schema": imported.name, "database": namespace?.database,
                "collection": namespace?.collection, "file": file,
                "notes": imported.notes.map { note in
                    [
                        "kind": note.kind.rawValue, "code": note.code.rawValue, "path": "\(note.path)",
                        "line": note.location.line, "column": note.location.column, "message": note.message,
                    ] as ReportValue
                },
                "validator": SchemaFileText(imported.validator).json,
            ])
    }

    package var report: Report {
        var report = Report(command: "schema import", title: file ?? source, headline: headline, level: level)
        report.figures.facts = ImportNote.Kind.allCases.map {
            Report.Fact($0.plural, imported.notes.count(of: $0))
        }
        report.style.sectionKind = "file"
        report.sections = [
            Report.Section(name: source, columns: ["note", "line", "path", "what"], findings: findings)
        ].filter { !$0.findings.isEmpty }
        report.notes = advice
        return report
    }

    private var headline: String {
        let name = imported.name.map { " (\($0))" } ?? ""
        let counts = ImportNote.Kind.allCases.compactMap { kind -> String? in
            let count = imported.notes.count(of: kind)
            return count == 0 ? nil : "\(count.grouped) \(count == 1 ? kind.singular : kind.plural)"
        }
        let notes = counts.isEmpty ? "nothing to review" : counts.joined(separator: ", ")
        return "Validator of \(source)\(name)\(file.map { " in \($0)" } ?? ""): \(notes)."
    }

    private var level: Report.Level {
        imported.notes.isEmpty ? .good : imported.notes.count(of: .warning) == 0 ? .notice : .warning
    }

    private var advice: [String] {
        let isAboutStrings = imported.notes.contains { [.formatType, .objectID].contains($0.code) }
        let strings = "--keep-strings is for code that stores dates and UUIDs as strings, such as Zod's and TypeBox's."
        let check = file.map { file in
            "Count the documents that do not fit: shipshape check \(file.shellWord) --collection "
                + (namespace.map { "\($0)".shellWord } ?? "DB.COLL")
        }
        return (isAboutStrings && !keepsStrings ? [strings] : []) + [check].compactMap(\.self)
    }

    /// The notes, grouped by code and message; the groups are in the order of their kinds, then of their first notes.
    private var findings: [Report.Finding] {
        let groups = imported.notes.grouped { "\($0.code) \($0.message)" }.map(\.elements)
        return ImportNote.Kind.allCases.flatMap { kind in
            groups.filter { $0[0].kind == kind }.map { finding($0, $0[0]) }
        }
    }

    /// Returns the finding for notes with the same code and message as the first one, on several parts of a schema.
    ///
    /// It names at most three of their paths, and counts the others.
    private func finding(_ notes: [ImportNote], _ first: ImportNote) -> Report.Finding {
        let all = notes.grouped { "\($0.path)" }.map(\.key)
        let more = all.count > 3 ? " and \((all.count - 3).grouped) more" : ""
        let paths = all.prefix(3).joined(separator: ", ") + more
        return Report.Finding(
            level: first.kind.level, code: first.code.rawValue, subject: paths, place: first.location,
            message: "\(paths): \(first.message)",
            cells: [
                Report.Cell(first.kind.singular, level: first.kind.level), "\(first.location.line)", .code(paths),
                Report.Cell(first.message),
            ])
    }
}

extension [ImportNote] {
    fileprivate func count(of kind: ImportNote.Kind) -> Int { count { $0.kind == kind } }
}

extension ImportNote.Kind {
    fileprivate var singular: String {
        switch self {
        case .warning: "warning"
        case .decision: "decision"
        case .leftOut: "left out"
        }
    }

    fileprivate var plural: String { self == .leftOut ? "left out" : "\(singular)s" }

    fileprivate var level: Report.Level { self == .warning ? .warning : .notice }
}
