package import BSON
package import Checking
import SystemPackage

/// Checks every document of a source that is no deployment: a dump, an export, or standard input.
package struct SourceScan: Sendable {
    /// A collection to check.
    package struct Part: Sendable {
        let schema: CompiledSchema
        let options: ScanOptions

        /// The collection of the source that holds the documents.
        var namespace: Namespace { options.place(schema.namespace) }

        /// Joins the two.
        package init(_ schema: CompiledSchema, _ options: ScanOptions) {
            self.schema = schema
            self.options = options
        }
    }

    let parts: [Part]
    let others: [Namespace]
    let path: FilePath

    /// Prepares a scan.
    /// - Parameters:
    ///   - source: a folder, a file, or `-` for standard input.
    ///   - others: collections that are not read, of which it is told whether the source lacks them.
    package init(_ parts: [Part], source: String, others: [Namespace] = []) {
        self.parts = parts
        self.others = others
        path = FilePath(source)
    }

    /// The source, as reports name it.
    package var name: String { path == DumpInput.standardInput ? "standard input" : path.string }

    /// What is the same for all parts.
    private var options: ScanOptions { parts.first?.options ?? ScanOptions() }

    /// Reads the source from its start to its end, once; blocks.
    /// - Throws: ``SourceError``, ``DumpError`` for a truncated or damaged file, or ``ScanStopped``.
    package func run() throws -> SourceFindings {
        do {
            return try scanSource()
        } catch let error as DumpError where error.code == .stopped {
            throw ScanStopped()
        }
    }

    private func scanSource() throws -> SourceFindings {
        guard path != DumpInput.standardInput else { return try scanFile() }
        let isFolder: Bool
        do {
            isFolder = try path.stat().type == .directory
        } catch {
            throw error == .noSuchFileOrDirectory
                ? SourceError("\(path): there is no such file or folder (check the path)")
                : SourceError("\(path) cannot be read: \(error)")
        }
        return try isFolder ? scanFolder() : scanFile()
    }

    /// Checks what a folder holds of each collection, one after the other.
    private func scanFolder() throws -> SourceFindings {
        let folder = DumpFolder(path)
        let holdings = try parts.map { try folder.holding(of: $0.namespace) }
        var findings = SourceFindings(tallies: parts.map { $0.options.makeTally($0.schema) })
        try findings.explain(
            zip(parts, holdings).map { part, holding in
                (part.namespace, .init(hasDocuments: holding.documents != nil, kind: holding.kind))
            }, of: name, others: folder.namespaces())
        findings.notes += folder.notes(on: holdings, for: parts.map(\.namespace))
        findings.absent = try others.filter { try folder.holding(of: $0).documents == nil }
        for (index, holding) in holdings.enumerated() {
            guard let file = holding.documents else { continue }
            try scan(try DumpInput(file), named: file.string, into: &findings, at: index)
        }
        return findings
    }

    /// Checks one file, or standard input: an archive is for all collections, anything else for one.
    private func scanFile() throws -> SourceFindings {
        var input = try DumpInput(path, isStopped: options.isStopped)
        if try input.kind() == .archive { return try scanArchive(input) }
        guard parts.count == 1 else {
            throw SourceError(
                "\(name) is one file, and the schema covers \(parts.count) collections: "
                    + "name the file's with --collection")
        }
        // A file may be that of an empty collection; a pipe without a byte is rather a dump that failed.
        if path == DumpInput.standardInput, input.isEmpty {
            throw SourceError("standard input is empty: there is nothing to check (did what writes to it fail?)")
        }
        var findings = SourceFindings(tallies: parts.map { $0.options.makeTally($0.schema) })
        try scan(input, named: name, into: &findings, at: 0)
        return findings
    }
}

extension SourceScan {
    /// Checks all documents of a source that holds those of one collection.
    private func scan(
        _ input: consuming DumpInput, named name: String, into findings: inout SourceFindings, at index: Int
    ) throws {
        var pace = Pace(parts[index].options)
        switch try input.kind() {
        case .json:
            var reader = JSONFileReader(input)
            while let document = try reader.next() {
                try findings.tallies[index].add(document, ledger: parts[index].options.ledger)
                guard pace.goesOn() else { throw ScanStopped() }
            }
            if reader.sawPlainInteger {
                findings.notes.append(
                    "\(name) does not tell int from long: a whole number was taken for an int where it is small enough "
                        + "(export with --jsonFormat=canonical)")
            }
        // A name that promises BSON gets told at which byte it is none.
        case .unknown where !name.hasSuffix(".bson") && !name.hasSuffix(".bson.gz"):
            throw SourceError.unknownKind(name)
        case .archive, .bson, .unknown:
            var reader = BSONFileReader(input, validating: true)
            while let document = try reader.next() {
                try findings.tallies[index].add(document, ledger: parts[index].options.ledger)
                guard pace.goesOn() else { throw ScanStopped() }
            }
        }
        pace.finish()
    }

    /// Checks the documents of all collections in one pass.
    private func scanArchive(_ input: consuming DumpInput) throws -> SourceFindings {
        var pace = Pace(options)
        var findings = SourceFindings(tallies: parts.map { $0.options.makeTally($0.schema) })
        var reader = try ArchiveReader(input, wanted: parts.map(\.namespace), validating: true)
        while let index = try reader.next() {
            try findings.tallies[index].add(reader.document, ledger: parts[index].options.ledger)
            guard pace.goesOn() else { throw ScanStopped() }
        }
        pace.finish()
        let namespaces = reader.namespaces
        try findings.explain(
            zip(parts.map(\.namespace), findings.tallies).map { namespace, tally in
                let kind = reader.prelude.collections.first { $0.namespace == namespace }?.kind
                let isThere = kind == .collection || namespaces.contains(namespace) && kind == nil
                return (namespace, .init(hasDocuments: isThere || tally.counts.read > 0, kind: kind))
            }, of: name, others: namespaces.filter(\.isOfUsers))
        findings.absent = others.filter { !namespaces.contains($0) }
        if namespaces.contains(Namespace(database: "", collection: "oplog")) {
            findings.notes.append(DumpFolder.oplogNote("the oplog of \(name)"))
        }
        return findings
    }
}
