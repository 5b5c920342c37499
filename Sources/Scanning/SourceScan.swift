package import BSON
package import Checking
import SystemPackage

/// Checks every document of a source other than a deployment: a dump, an export, or standard input.
package struct SourceScan: Sendable {
    /// A collection to check, with its schema and its options.
    package struct Part: Sendable {
        fileprivate(set) var schema: CompiledSchema
        let options: ScanOptions

        /// The namespace of the collection in the source.
        var namespace: Namespace { options.judging.place(schema.namespace) }

        package init(_ schema: CompiledSchema, _ options: ScanOptions) {
            self.schema = schema
            self.options = options
        }
    }

    private(set) var parts: [Part]
    let others: [Namespace]
    let source: String

    /// Prepares a scan.
    /// - Parameters:
    ///   - source: A folder, a file, a pipe, or `-` for standard input.
    ///   - others: Collections that are not read, but are reported if the source lacks them.
    package init(_ parts: [Part], source: String, others: [Namespace] = []) {
        self.parts = parts
        self.others = others
        self.source = source
    }

    private var reader: SourceReader {
        SourceReader(
            parts.map(\.namespace), source: source, others: others, options: parts.first?.options ?? ScanOptions())
    }

    /// The name of the source in reports.
    package var name: String { reader.name }

    /// Reads the source from its start to its end, and again if the texts of its `_id`s have to be compared; blocks the
    /// thread.
    /// - Throws: ``SourceError``, ``DumpError`` for a truncated or damaged file, or ``ScanStopped``.
    package func run() throws -> SourceFindings {
        guard parts.contains(where: { !$0.schema.uniqueKeys.isEmpty }) else { return try scan() }
        var scan = self
        for (index, collation) in try reader.collations().enumerated() {
            scan.parts[index].schema = parts[index].schema.with(collation: collation)
        }
        return try scan.scan()
    }

    private func scan() throws -> SourceFindings {
        var tallies = parts.map { $0.options.makeTally($0.schema) }
        let keys = parts.map { UniqueLog($0.schema, options: $0.options) }
        var logs = keys.map { [$0].compactMap(\.self) }
        let facts = try reader.read { index, document in
            try tallies[index].add(document, ledger: parts[index].options.judging.ledger)
            try keys[index]?.add(document, tallies[index].lastCounted)
        } file: { index, path in
            logs[index] += try FileThreads(part: parts[index], path: path).add(to: &tallies[index], keys[index])
        }
        var notes: [String] = []
        var missing: [[MissingGuarantee]] = []
        for index in tallies.indices {
            let options = parts[index].options
            try UniqueSearch(logs: logs[index], options: options).count(in: &tallies[index])
            logs[index] = []
            let reason = "it has a collation or a filter, which only a server applies"
            missing.append(
                options.unjudgedKeys(of: parts[index].schema, server: reason).map {
                    MissingGuarantee(.everyIndex, $0.reason)
                })
            notes += try compareIDTexts(of: index, in: &tallies)
        }
        var findings = SourceFindings(tallies: tallies, facts: facts)
        findings.facts.notes += notes
        findings.missing = missing
        return findings
    }

    /// Counts the documents of a collection whose `_id` has the same text as the `_id` of another document, such as 1
    /// and "1".
    ///
    /// Reads the source again if it may have such `_id`s and the sync engine treats their documents as one document. A
    /// pipe cannot be read again, so a remark says that its `_id`s were not compared.
    /// - Returns: Remarks for the user, each a clause.
    private func compareIDTexts(of index: Int, in tallies: inout [Tally]) throws -> [String] {
        guard parts[index].schema.comparesIDTexts, tallies[index].canHaveEqualTexts else { return [] }
        let namespace = parts[index].namespace
        guard !self.reader.isStream else {
            return ["\(namespace): \(EqualTextSearch.missing), because \(name) can be read only once"]
        }
        var options = parts[index].options
        options.listeners.progress = { _ in }
        let reader = SourceReader([namespace], source: source, options: options)
        do {
            var search = EqualTextSearch(parts[index].schema, folder: options.temporaryFolder)
            let ids = Set(
                try search.ids { body in _ = try reader.read { _, document in try body(document) } }.map(IDKey.init))
            guard !ids.isEmpty else { return [] }
            var tally = tallies[index]
            _ = try reader.read { _, document in
                guard let id = try document.find("_id").map({ try document.value($0) }), ids.contains(IDKey(id)) else {
                    return
                }
                options.listeners.onRetraction?(parts[index].schema.namespace, id)
                try tally.countEqualText(document, ledger: options.judging.ledger)
            }
            tallies[index] = tally
            return search.isIncomplete ? ["\(namespace): \(EqualTextSearch.incomplete)"] : []
        } catch let error as Errno {
            return ["\(namespace): \(EqualTextSearch.missing(because: error))"]
        }
    }
}
