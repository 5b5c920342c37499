import BSON
package import ClientModels
package import ServerSchema

/// The client classes that were generated from a schema, in every output format.
package struct ModelsResult: Reportable {
    private let language: ModelLanguage
    private let folder: String?
    private let files: [ModelFile]
    /// Notes on the parts of the schema that the client classes do not have.
    package let notes: [String]

    /// Creates the result.
    /// - Parameter folder: the folder that the files were written to; `nil` if they are only printed.
    package init(_ language: ModelLanguage, in folder: String?, files: [ModelFile], notes: [SchemaNote]) {
        (self.language, self.folder, self.files) = (language, folder, files)
        self.notes = notes.map { "\($0)" }
    }

    package var json: JSONReport {
        JSONReport(
            "schema models",
            [
                "language": language.rawValue, "folder": folder,
                "files": files.map { file in
                    [
                        "file": file.name, "class": file.model.name, "kind": file.model.kind.rawValue,
                        "database": file.model.namespace.database, "collection": file.model.namespace.collection,
                        "left_out": file.model.gaps, "text": folder == nil ? file.text : nil,
                    ] as ReportValue
                },
                "notes": notes,
            ])
    }

    package var report: Report {
        let classes = "\(files.count.grouped) \(files.count == 1 ? "class" : "classes")"
        var report = Report(
            command: "schema models", title: "Classes for \(language.rawValue)",
            headline: "\(classes) for \(language.rawValue)" + (folder.map { " in \($0)." } ?? "."), level: .good)
        report.tables = [
            Report.Table(
                title: "Files", columns: ["file", "class", "kind", "collection"],
                rows: files.map { file in
                    [file.name, file.model.name, file.model.kind.rawValue, "\(file.model.namespace)"].map {
                        Report.Cell($0)
                    }
                })
        ]
        report.notes = notes
        return report
    }
}
