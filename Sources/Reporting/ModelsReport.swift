import BSON
package import ClientModels
package import ServerSchema
import TextTable

/// The report of `models`: the client classes that were generated from a schema.
package struct ModelsReport: Sendable {
    private let language: ModelLanguage
    private let folder: String?
    private let files: [ModelFile]
    private let notes: [SchemaNote]

    /// Creates the report.
    /// - Parameter folder: the folder that the files were written to; `nil` if they are only printed.
    package init(_ language: ModelLanguage, in folder: String?, files: [ModelFile], notes: [SchemaNote]) {
        (self.language, self.folder, self.files, self.notes) = (language, folder, files, notes)
    }

    /// Returns the report as text.
    package func text(width: Int?) -> String {
        let verdict =
            "\(files.count.grouped) \(files.count == 1 ? "class" : "classes") for \(language.rawValue)"
            + (folder.map { " in \($0.printable)." } ?? ".")
        let table = Report.Table(
            title: "Files", columns: ["file", "class", "kind", "collection"].map { Report.Column(title: $0) },
            rows: files.map { file in
                [file.name, file.model.name, file.model.kind.rawValue, "\(file.model.namespace)"].map {
                    Report.Cell($0)
                }
            })
        let lines = [verdict] + TextTable.lines(of: table, width: width)
        return (lines + noteLines(width: width)).joined(separator: "\n")
    }

    /// Returns the notes for the reader, wrapped into lines.
    package func noteLines(width: Int?) -> [String] { notes.flatMap { "note: \($0)".printable.wrapped(to: width) } }

    /// The report as JSON.
    package var json: String {
        let files = files.map { file in
            ReportValue.object([
                ("file", .string(file.name)), ("class", .string(file.model.name)),
                ("kind", .string(file.model.kind.rawValue)),
                ("database", .string(file.model.namespace.database)),
                ("collection", .string(file.model.namespace.collection)),
                ("left_out", .array(file.model.gaps.map { .string($0) })),
                ("text", folder == nil ? .string(file.text) : .null),
            ])
        }
        return JSONReport(
            "models",
            [
                ("language", .string(language.rawValue)), ("folder", folder.map { .string($0) } ?? .null),
                ("files", .array(files)), ("notes", .array(notes.map { .string("\($0)") })),
            ]
        ).text
    }
}
