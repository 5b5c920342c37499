package import BSON
internal import Foundation
package import ServerSchema
internal import SystemPackage

/// The files, or the standard output, to which a command writes the schemas that it made.
package struct SchemaTarget: Sendable {
    /// The file or the folder for the schemas, as the operator named it; `nil` for standard output.
    package let path: String?
    let mayReplace: Bool
    let dialect: Dialect
    /// Whether the report on standard output contains the schemas.
    let isInReport: Bool
    /// The files and folders that the command reads.
    let inputs: [String]

    package init(path: String?, mayReplace: Bool, dialect: Dialect, isInReport: Bool, inputs: [String]) {
        (self.path, self.mayReplace, self.dialect) = (path, mayReplace, dialect)
        (self.isInReport, self.inputs) = (isInReport, inputs)
    }

    /// Checks before a long run, instead of after it, that the schemas can be written.
    /// - Throws: ``UsageError``, ``InputError`` or ``OutputError``.
    package func prepare(for namespaces: [Namespace?]) throws {
        let isWhole = dialect == .prisma
        let databases = namespaces.compactMap { $0?.database }
        if isWhole, let other = databases.first(where: { $0 != databases[0] }) {
            throw UsageError(
                "a Prisma schema has the collections of one database, and these are in \(databases[0]) and \(other): "
                    + "name one with --database")
        }
        guard let path else {
            if namespaces.count > 1, !isInReport, !isWhole {
                throw UsageError(
                    "\(namespaces.count) collections have \(namespaces.count) schemas, and standard output takes only "
                        + "one: give --out DIR, name one collection with --collection, or use --output json")
            }
            return
        }
        if isFile, namespaces.count > 1, !isWhole {
            throw UsageError("--out \(path) is one file, and there are \(namespaces.count) collections: name a folder")
        }
        for namespace in namespaces {
            let file = try file(of: namespace)
            try OutputPlaces.check([file], reading: inputs)
            try checkFolder(of: file)
            guard let type = try? FilePath(file).stat().type else { continue }
            if type == .directory { throw OutputError(description: "cannot write the schema \(file): it is a folder") }
            if type == .regular, !mayReplace {
                throw OutputError(
                    description: "the schema \(file) exists already: name another place, or replace it with --force")
            }
        }
    }

    /// Refuses a file whose nearest existing parent is not a folder.
    private func checkFolder(of file: String) throws {
        var place = FilePath(file).removingLastComponent()
        while !place.isEmpty {
            do {
                guard try place.stat().type != .directory else { return }
                throw OutputError(description: "cannot write the schema \(file): \(place) is not a folder")
            } catch let error as Errno {
                // `notDirectory` means that a component of the path is a file instead of a folder. The loop goes up to
                // this component, and then reports it.
                guard error == .noSuchFileOrDirectory || error == .notDirectory else {
                    throw OutputError(description: "cannot write the schema \(file): \(place): \(error)")
                }
                place.removeLastComponent()
            }
        }
    }

    /// Whether the path names a file, and not a folder.
    var isFile: Bool {
        guard let path, path.hasSuffix(dialect == .prisma ? ".prisma" : ".json") else { return false }
        return (try? FilePath(path).stat().type) != .directory
    }

    /// Returns the file for a collection's schema; `-` for standard output.
    /// - Throws: ``UsageError`` if the path is a folder and the collection is unknown; ``InputError`` if the
    ///   collection's name cannot be the name of a file.
    package func file(of namespace: Namespace?) throws -> String {
        guard let path, !isFile else { return path ?? "-" }
        guard let namespace else {
            throw UsageError("--out \(path) is a folder: name the collection with --collection, or a file FILE.json")
        }
        let name = namespace.collection
        guard !name.contains("/"), name != ".", name != ".." else {
            throw InputError("\(namespace) cannot be the name of a file: name one with --out FILE.json")
        }
        let folder = FilePath(path)
        switch dialect {
        // The path is the same as in an export of an App Services app; `mongodb-atlas` is the name of the data source.
        case .appServices:
            return folder.appending("data_sources").appending("mongodb-atlas").appending(namespace.database)
                .appending(name).appending("schema.json").string
        case .jsonSchema: return folder.appending("\(namespace).json").string
        case .prisma: return folder.appending("schema.prisma").string
        }
    }

    /// Returns the text of a file whose name does not say which collection the schema is of, so that the text says it.
    private func stating(_ namespace: Namespace?, in text: String, for file: String) -> String {
        guard let namespace, isFile, dialect != .prisma, FilePath(file).lastComponent?.string != "\(namespace).json"
        else {
            return text
        }
        let key = dialect == .jsonSchema ? "validator" : "schema"
        let lines = text.split(separator: "\n").joined(separator: "\n  ")
        return """
            {
              "database": \(namespace.database.quotedAsJSON),
              "collection": \(namespace.collection.quotedAsJSON),
              "\(key)": \(lines)
            }

            """
    }

    /// Writes each text of a schema to its file, whole or not at all; writes nothing if the schemas go to standard
    /// output.
    /// - Throws: ``OutputError``; errors of ``file(of:)``.
    package func write(_ files: [(namespace: Namespace?, text: String)]) throws {
        guard path != nil else { return }
        for (namespace, text) in files {
            let file = try file(of: namespace)
            do {
                try FileManager.default.createDirectory(
                    atPath: FilePath(file).removingLastComponent().string.isEmpty
                        ? "." : FilePath(file).removingLastComponent().string, withIntermediateDirectories: true)
                try AtomicFile.write(stating(namespace, in: text, for: file).utf8, to: file)
            } catch {
                throw OutputError(description: "cannot write the schema \(file): \(error)")
            }
        }
    }
}
