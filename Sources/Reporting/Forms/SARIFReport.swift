import BSON
import ServerSchema

/// A command's findings as SARIF 2.1.0, which code scanning shows next to the code.
///
/// Code scanning accepts no result without a position in a file. Source: OASIS, "Static Analysis Results Interchange
/// Format (SARIF) Version 2.1.0"; GitHub's documentation, "SARIF support for code scanning".
package struct SARIFReport: Sendable {
    private let report: Report

    package init(_ report: Report) { self.report = report }

    /// The JSON text, which ends with a line break.
    package var text: String {
        let entries = LocatedFindings(report).entries
        let codes = entries.grouped(by: \.code).map(\.key)
        let driver: ReportValue = [
            "name": "shipshape", "semanticVersion": Release.version, "rules": codes.map(rule),
        ]
        let run: ReportValue = [
            "tool": ["driver": driver] as ReportValue,
            // The part of the id before the slash is the category. Code scanning uses it to distinguish the findings of
            // two commands on the same commit.
            "automationDetails": ["id": "shipshape-\(report.command.replacing(" ", with: "-"))/"] as ReportValue,
            "invocations": [
                ["executionSuccessful": true, "toolExecutionNotifications": report.allNotes.map(note)] as ReportValue
            ],
            "results": entries.map { result($0, codes) },
            "properties": ["title": report.title.printable, "verdict": report.headline.printable] as ReportValue,
        ]
        let log: ReportValue = [
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run],
        ]
        return log.text() + "\n"
    }

    private func rule(_ code: String) -> ReportValue {
        let page = Explanation.pages(of: code).first
        func statement(_ titles: Set<String>) -> String? {
            page?.statements.first { titles.contains($0.title) }?.text.printable
        }
        let meaning = statement(["what it means", "meaning"]) ?? "The verdict of `shipshape` on: \(code)"
        let remedy = statement(["remedy", "what to do"])
        let source = page == nil ? [] : ["`shipshape explain \(code)` explains the rule."]
        let help = ([remedy].compactMap(\.self) + source).joined(separator: "\n\n")
        return [
            "id": code.printable, "shortDescription": message(meaning), "fullDescription": message(meaning),
            "help": ["text": help.isEmpty ? meaning : help, "markdown": help.isEmpty ? meaning : help] as ReportValue,
        ]
    }

    private func result(_ entry: LocatedFindings.Entry, _ codes: [String]) -> ReportValue {
        let result: ReportValue = [
            "ruleId": entry.code.printable, "ruleIndex": codes.firstIndex(of: entry.code) ?? 0,
            "level": entry.isFailure ? "error" : entry.level >= .warning ? "warning" : "note",
            "message": message(([entry.message] + entry.details).joined(separator: "\n")),
            "locations": [location(entry)],
            "partialFingerprints": ["shipshape/v1": entry.fingerprint.description] as ReportValue,
        ]
        guard let reason = entry.acceptance else { return result }
        return result + [
            "suppressions": [["kind": "external", "justification": reason.printable] as ReportValue]
        ]
    }

    private func location(_ entry: LocatedFindings.Entry) -> ReportValue {
        let file = entry.place.file
        let artifact: ReportValue =
            file.hasPrefix("/")
            ? ["uri": "file://\(Hyperlink.encoded(file))"] : ["uri": Hyperlink.encoded(file), "uriBaseId": "%SRCROOT%"]
        let start: ReportValue = ["startLine": entry.place.line, "startColumn": max(1, entry.place.column)]
        let region: ReportValue = entry.place.line > 0 ? ["region": start] : [:]
        return [
            "physicalLocation": (["artifactLocation": artifact] as ReportValue) + region,
            "logicalLocations": [["fullyQualifiedName": entry.subject.printable] as ReportValue],
        ]
    }

    private func note(_ text: String) -> ReportValue { ["level": "note", "message": message(text.printable)] }

    /// Returns a message with a blank between `]` and `(`, because SARIF reads `[text](address)` as a link.
    private func message(_ text: String) -> ReportValue { ["text": text.replacing("](", with: "] (")] }
}
