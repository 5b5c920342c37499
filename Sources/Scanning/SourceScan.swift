package import BSON
package import Checking

/// Checks every document of a source that is no deployment: a dump, an export, or standard input.
package struct SourceScan: Sendable {
    /// A collection to check.
    package struct Part: Sendable {
        let schema: CompiledSchema
        let options: ScanOptions

        /// The collection of the source that holds the documents.
        var namespace: Namespace { options.judging.place(schema.namespace) }

        /// Joins the two.
        package init(_ schema: CompiledSchema, _ options: ScanOptions) {
            self.schema = schema
            self.options = options
        }
    }

    let parts: [Part]
    let others: [Namespace]
    let source: String

    /// Prepares a scan.
    /// - Parameters:
    ///   - source: a folder, a file, or `-` for standard input.
    ///   - others: collections that are not read, of which it is told whether the source lacks them.
    package init(_ parts: [Part], source: String, others: [Namespace] = []) {
        self.parts = parts
        self.others = others
        self.source = source
    }

    private var reader: SourceReader {
        SourceReader(
            parts.map(\.namespace), source: source, others: others, options: parts.first?.options ?? ScanOptions())
    }

    /// The source, as reports name it.
    package var name: String { reader.name }

    /// Reads the source from its start to its end, once; blocks.
    /// - Throws: ``SourceError``, ``DumpError`` for a truncated or damaged file, or ``ScanStopped``.
    package func run() throws -> SourceFindings {
        var tallies = parts.map { $0.options.makeTally($0.schema) }
        let facts = try reader.read { index, document in
            try tallies[index].add(document, ledger: parts[index].options.judging.ledger)
        } file: { index, path in
            try FileThreads(part: parts[index], path: path).add(to: &tallies[index])
        }
        return SourceFindings(tallies: tallies, facts: facts)
    }
}
