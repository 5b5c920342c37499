package import BSON
import SystemPackage

/// Reads the documents of a source other than a deployment: a dump, an export, or standard input.
package struct SourceReader: Sendable {
    /// The purpose of reading the source, on which the texts of errors depend.
    package enum Purpose: Sendable {
        /// The documents are checked against a schema.
        case check
        /// A schema is inferred from the documents.
        case inference
    }

    let namespaces: [Namespace]
    let others: [Namespace]
    let path: FilePath
    let options: ScanOptions
    let purpose: Purpose

    /// Prepares to read the documents of a dump, an export or standard input.
    /// - Parameters:
    ///   - namespaces: The collections whose documents are read.
    ///   - source: A folder, a file, or `-` for standard input.
    ///   - others: Collections that are not read, but are reported if the source lacks them.
    package init(
        _ namespaces: [Namespace], source: String, others: [Namespace] = [], options: ScanOptions,
        purpose: Purpose = .check
    ) {
        self.namespaces = namespaces
        self.others = others
        self.options = options
        self.purpose = purpose
        path = FilePath(source)
    }

    /// The name of the source in reports.
    package var name: String { path == DumpInput.standardInput ? "standard input" : path.string }

    /// Reads the source once from its start to its end; blocks the thread.
    /// - Parameter body: Called with every document, and with the index of its collection in `namespaces`.
    /// - Throws: ``SourceError``, ``DumpError`` if a file is truncated or damaged, ``ScanStopped``, or an error of
    ///   `body`.
    package func read(_ body: (Int, borrowing BSONView) throws -> Void) throws -> SourceFacts {
        try read(body) { index, path in
            var pacer = ScanPacer(options)
            func lend(_ document: borrowing BSONView) throws {
                try body(index, document)
                guard pacer.mayContinue() else { throw ScanStopped() }
            }
            if options.threads > 1 {
                try ReadAhead(of: path).read(lend)
            } else {
                var reader = try BSONFileReader(path, validating: true)
                while let document = try reader.next() { try lend(document) }
            }
            pacer.finish()
        }
    }

    /// Reads the source once; for a collection whose documents are in a BSON file, calls `file` instead of `body`.
    ///
    /// `file` gets the index of the collection in `namespaces`, and the path of the file. `body` gets the documents of
    /// all other collections.
    func read(
        _ body: (Int, borrowing BSONView) throws -> Void, file: (Int, FilePath) throws -> Void
    ) throws -> SourceFacts {
        do {
            return try isFolder() ? readFolder(body, file) : readFile(body, file)
        } catch let error as DumpError where error.code == .stopped {
            throw ScanStopped()
        }
    }

    private func isFolder() throws(SourceError) -> Bool {
        guard path != DumpInput.standardInput else { return false }
        do {
            return try path.stat().type == .directory
        } catch {
            throw error == .noSuchFileOrDirectory
                ? SourceError("\(path): there is no such file or folder (check the path)")
                : SourceError("\(path) cannot be read: \(error)")
        }
    }

    /// Reads the documents of each collection in a folder, one collection after the other.
    private func readFolder(
        _ body: (Int, borrowing BSONView) throws -> Void, _ file: (Int, FilePath) throws -> Void
    ) throws -> SourceFacts {
        let folder = DumpFolder(path)
        let files = try namespaces.map { try folder.files(of: $0) }
        var facts = SourceFacts()
        try facts.explain(
            zip(namespaces, files).map { namespace, files in
                (namespace, .init(hasDocuments: files.documents != nil, kind: files.kind))
            }, of: name, others: folder.namespaces(), purpose)
        facts.notes += folder.notes(on: files, for: namespaces)
        facts.absent = try others.filter { try folder.files(of: $0).documents == nil }
        for (index, files) in files.enumerated() {
            guard let path = files.documents else { continue }
            if try !read(try DumpInput(path), named: path.string, into: &facts, { try body(index, $0) }) {
                try file(index, path)
            }
        }
        return facts
    }

    /// Reads one file or standard input: an archive for all collections, or any other file for one collection.
    private func readFile(
        _ body: (Int, borrowing BSONView) throws -> Void, _ file: (Int, FilePath) throws -> Void
    ) throws -> SourceFacts {
        var input = try DumpInput(path, isStopped: options.isStopped)
        if try input.kind() == .archive { return try readArchive(input, body) }
        guard namespaces.count == 1 else {
            let asked = purpose == .check ? "the schema covers \(namespaces.count) collections" : "it names none"
            throw SourceError("\(name) is one file, and \(asked): name its collection with --collection")
        }
        // An empty file may be the dump of an empty collection, but an empty pipe usually means that the dump failed.
        if path == DumpInput.standardInput, input.isEmpty {
            throw SourceError(
                "standard input is empty: there is nothing to check (did the command that writes to it fail?)")
        }
        var facts = SourceFacts()
        if try !read(input, named: name, into: &facts, { try body(0, $0) }) { try file(0, path) }
        return facts
    }
}

extension SourceReader {
    /// Returns the collections whose documents the source contains, without the server's own collections; empty for a
    /// single file that is not an archive.
    /// - Throws: ``SourceError``, or ``DumpError``.
    package func held() throws -> [Namespace] {
        if try isFolder() { return Array(Set(DumpFolder(path).namespaces())).sorted() }
        var input = try DumpInput(path, isStopped: options.isStopped)
        guard try input.kind() == .archive else { return [] }
        let prelude = try ArchiveReader(input, wanted: []).prelude
        return prelude.collections.filter { $0.kind == .collection }.map(\.namespace).filter(\.isOfUsers).sorted()
    }

    /// Returns the default collation of each collection, in the order of ``namespaces``, as far as the source names it.
    /// - Throws: ``SourceError``, or ``DumpError``.
    func collations() throws -> [BSONDocument?] {
        if try isFolder() { return try namespaces.map { try DumpFolder(path).files(of: $0).collation } }
        guard !isStream else { return namespaces.map { _ in nil } }
        var input = try DumpInput(path, isStopped: options.isStopped)
        guard try input.kind() == .archive else { return namespaces.map { _ in nil } }
        let collections = try ArchiveReader(input, wanted: []).prelude.collections
        return namespaces.map { namespace in collections.first { $0.namespace == namespace }?.collation }
    }

    /// Whether the source can be read only once, like a pipe.
    package var isStream: Bool {
        guard path != DumpInput.standardInput else { return true }
        guard let type = try? path.stat().type else { return false }
        return type != .regular && type != .directory
    }

    /// Reads an input that contains the documents of one collection.
    ///
    /// Does not read a BSON file of known size, because the caller reads it by its path.
    /// - Returns: Whether the input was read.
    private func read(
        _ input: consuming DumpInput, named name: String, into facts: inout SourceFacts,
        _ body: (borrowing BSONView) throws -> Void
    ) throws -> Bool {
        var pacer = ScanPacer(options)
        switch try input.kind() {
        case .json:
            var reader = JSONFileReader(input)
            while let document = try reader.next() {
                try body(document)
                guard pacer.mayContinue() else { throw ScanStopped() }
            }
            if reader.sawPlainInteger {
                facts.notes.append(
                    "\(name) does not distinguish int from long: whole numbers of 32 bits were read as int "
                        + "(export with --jsonFormat=canonical)")
            }
        // A file named .bson is read as BSON, so that the error shows the byte at which the content is not BSON.
        case .unknown where !name.hasSuffix(".bson") && !name.hasSuffix(".bson.gz"):
            throw SourceError.unknownKind(name)
        case .archive, .bson, .unknown:
            // The caller reads a file by its path. A pipe cannot be opened again, so its documents are read here.
            if input.fileSize != nil { return false }
            var reader = BSONFileReader(input, validating: true)
            while let document = try reader.next() {
                try body(document)
                guard pacer.mayContinue() else { throw ScanStopped() }
            }
        }
        pacer.finish()
        return true
    }

    /// Reads the documents of all wanted collections in an archive, in one pass.
    private func readArchive(
        _ input: consuming DumpInput, _ body: (Int, borrowing BSONView) throws -> Void
    ) throws -> SourceFacts {
        var pacer = ScanPacer(options)
        var facts = SourceFacts()
        var seen = Set<Int>()
        var reader = try ArchiveReader(input, wanted: namespaces, validating: true)
        while let index = try reader.next() {
            seen.insert(index)
            try body(index, reader.document)
            guard pacer.mayContinue() else { throw ScanStopped() }
        }
        pacer.finish()
        let held = reader.namespaces
        try facts.explain(
            namespaces.enumerated().map { index, namespace in
                let kind = reader.prelude.collections.first { $0.namespace == namespace }?.kind
                let isThere = kind == .collection || held.contains(namespace) && kind == nil
                return (namespace, .init(hasDocuments: isThere || seen.contains(index), kind: kind))
            }, of: name, others: held.filter(\.isOfUsers), purpose)
        facts.absent = others.filter { !held.contains($0) }
        if held.contains(Namespace(database: "", collection: "oplog")) {
            facts.notes.append(DumpFolder.oplogNote("the oplog of \(name)"))
        }
        return facts
    }
}
