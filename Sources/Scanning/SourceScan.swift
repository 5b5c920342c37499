package import BSON
package import Checking

/// Checks every document of a source other than a deployment: a dump, an export, or standard input.
package struct SourceScan: Sendable {
    /// A collection to check, with its schema and its options.
    package struct Part: Sendable {
        let schema: CompiledSchema
        let options: ScanOptions

        /// The collection in the source that contains the documents.
        var namespace: Namespace { options.judging.place(schema.namespace) }

        /// Creates a part.
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
    ///   - source: A folder, a file, or `-` for standard input.
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

    /// Reads the source once from its start to its end; blocks the thread.
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
