internal import BSON
internal import FoundationEssentials
internal import SystemPackage

/// One reading of a file or folder, which finds the schemas and the collection of each schema.
///
/// Source of the layouts: `semantics.md` section 2 of the project's reference.
struct SchemaReading {
    var files: SchemaFiles
    /// The only collection that the caller asked for; `nil` for all.
    let wanted: Namespace?
    /// Whether the reading is for lint.
    ///
    /// Lint also needs the access rules, and all collections to which links may lead.
    let isForLint: Bool
    /// Whether ``SchemaSearch`` reads this folder to find out whether it holds schemas.
    ///
    /// If the folder that a user named holds no schema, the error suggests other folders, which ``SchemaSearch`` finds
    /// by reading them. Such a reading makes no suggestion itself, so it starts no further search.
    var isSuggested = false

    var reader = AppServicesReader()
    var schema = ServerSchema(dialect: .appServices, collections: [])
    var seen: [Namespace: SourceLocation] = [:]
    private var services: [Namespace: String] = [:]
    /// The collections whose schemas could not be read at all during a reading for lint, each with the error.
    ///
    /// The result has an empty schema for each of these collections.
    private var unread: [(namespace: Namespace, error: SchemaError)] = []

    init(files: SchemaFiles, wanted: Namespace?, isForLint: Bool = false) {
        self.files = files
        self.wanted = wanted
        self.isForLint = isForLint
        reader.notesErrors = isForLint
    }

    /// Reads the file or folder, and returns its schemas.
    /// - Throws: ``SchemaError`` at the first defect that makes a schema unusable, or if there is no schema. A reading
    ///   for lint turns most defects into notes, and accepts an app without a schema.
    mutating func run() throws(SchemaError) -> ServerSchema {
        if files.isFolder { try readFolder() } else { try readSingleFile() }
        if let first = unread.first, unread.count == schema.collections.count { throw first.error }
        if isForLint, wanted == nil, isEmptyApp {
            reader.note(.placeholder, files.location(), "the app has no schema, so it cannot sync")
        } else if schema.collections.isEmpty || wanted.map({ schema[$0] == nil }) ?? false {
            throw nothingFound()
        }
        schema.collections.sort { $0.namespace < $1.namespace }
        schema.dialect = try onlyDialect()
        schema.dataSources.sort { $0.name < $1.name }
        schema.isWhole = files.isFolder && (wanted == nil || isForLint)
        schema.notes = reader.notes
        // Lint lists all misspelt keywords. Every other command stops at the first one, because it would otherwise
        // ignore a rule of the schema.
        if !isForLint, let slip = reader.notes.first(where: { $0.code == .misspeltKeyword }) {
            throw SchemaError(.unknownKeyword, at: slip.location, slip.message)
        }
        schema.sources = files.sources.sorted { $0.path < $1.path }
        return schema
    }

    /// Whether the folder is an app without any schemas, which App Services accepts.
    private var isEmptyApp: Bool { schema.collections.isEmpty && files.isFolder && isApp }

    /// Returns the dialect that all schemas have.
    /// - Throws: ``SchemaError`` if the schemas have different dialects, because an app has only one.
    private func onlyDialect() throws(SchemaError) -> Dialect {
        let read = schema.collections.filter { collection in
            !unread.contains { $0.namespace == collection.namespace }
        }
        let dialects = Set(read.map(\.dialect))
        guard dialects.count > 1 else { return dialects.first ?? .appServices }
        let odd = read.first { $0.dialect == .jsonSchema }
        throw SchemaError(
            .conflict, at: odd?.root.location ?? files.location(),
            "this is a MongoDB validator, but other schemas here are App Services schemas",
            remedy: "give each dialect a folder of its own")
    }

    private mutating func readSingleFile() throws(SchemaError) {
        schema.isOneFile = true
        let json = try files.json("")
        let rules = try RulesFile(json)
        guard let namespace = wanted ?? rules?.namespace ?? namespaceOfPath() else {
            throw SchemaError(
                .namespaceUnknown, at: files.location(), "the file does not say which collection it covers",
                remedy: "give --collection DB.COLL")
        }
        try checkName(namespace, at: files.location())
        seen[namespace] = files.location()
        try read(json, as: namespace, service: nil)
    }

    /// Returns the collection that a path names if it ends in
    /// `data_sources/<service>/<database>/<collection>/schema.json`.
    private func namespaceOfPath() -> Namespace? {
        let folder = FilePath(FileManager.default.currentDirectoryPath)
        let parts = folder.pushing(files.root).lexicallyNormalized().components.suffix(5).map(\.string)
        guard parts.count == 5, parts[0] == "data_sources", parts[4] == "schema.json" else { return nil }
        return Namespace(database: parts[2], collection: parts[3])
    }

    /// Reads the content of one file: a validator, a schema, or a rules file with a schema and links.
    /// - Returns: whether the file contains a schema; `{}` does not count as one.
    @discardableResult
    mutating func read(
        _ json: LocatedJSON, as namespace: Namespace, service: String?
    ) throws(SchemaError) -> Bool {
        if let validator = try ValidatorFile(json) {
            let failures = isForLint ? SchemaFailures() : nil
            schema.collections.append(try validator.collection(namespace, failures: failures))
            let noted = reader.notes.count
            reader.notes += validator.notes(of: namespace) + (failures?.all ?? []).map { SchemaNote($0) }
            attribute(from: noted, to: namespace)
            return true
        }
        let rules = try RulesFile(json)
        let noted = reader.notes.count
        guard let text = rules == nil ? json : rules?.schema else { return false }
        let root = try reader.root(text)
        attribute(from: noted, to: namespace)
        guard let root else { return false }
        var collection = CollectionSchema(namespace: namespace, root: root)
        collection.service = service ?? rules?.service
        schema.collections.append(collection)
        if let links = rules?.relationships { try read(links: links) }
        return true
    }

    /// Reads the schema in a file of a folder.
    ///
    /// If the schema cannot be read, a reading for lint adds a note and continues; any other reading throws the error.
    /// - Returns: whether the file contains a schema.
    mutating func readFile(
        _ file: String, of namespace: Namespace, service: String?
    ) throws(SchemaError) -> Bool {
        do throws(SchemaError) { return try read(try files.json(file), as: namespace, service: service) } catch {
            let noted = reader.notes.count
            try reader.note(error)
            attribute(from: noted, to: namespace)
            unread.append((namespace, error))
            var node = SchemaNode(location: error.location)
            node.types = [.object]
            var collection = CollectionSchema(namespace: namespace, root: node)
            collection.service = service
            schema.collections.append(collection)
            return false
        }
    }

    /// Calls `read` for a part of a folder.
    ///
    /// If `read` throws while a folder is read for lint, the method adds a note, and the reading continues without the
    /// part. In all other cases, the method throws the error.
    mutating func attempt(_ read: (inout Self) throws(SchemaError) -> Void) throws(SchemaError) {
        do throws(SchemaError) { try read(&self) } catch {
            guard files.isFolder else { throw error }
            try reader.note(error)
        }
    }

    /// Throws an error if no server accepts the namespace, or if the database's name has a control character.
    ///
    /// A wrong name would otherwise get into jobs, commands and reports.
    ///
    /// A name with a space causes no error here; `lint` reports it.
    private func checkName(_ namespace: Namespace, at location: SourceLocation) throws(SchemaError) {
        let isPrintable = namespace.database.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        let unspaced = Namespace(
            database: String(namespace.database.map { $0 == " " ? "_" : $0 }), collection: namespace.collection)
        guard Namespace("\(unspaced)") != unspaced || !isPrintable || namespace.collection.utf8.contains(0) else {
            return
        }
        throw SchemaError(
            .namespaceUnknown, at: location,
            "\(namespace.description.quotedAsJSON) cannot be the name of a database and a collection",
            remedy:
                "a database's name cannot contain /, \\, a dot, a quotation mark, $ or a control character, and "
                + "neither name a NUL")
    }

    /// Records that a file contains the schema of a collection.
    /// - Returns: whether the schema is needed. It is not needed if the schema of another data source is used for the
    ///   collection, or if the caller asked for another collection.
    /// - Throws: ``SchemaError`` if the collection has two schemas, or a name that no server accepts.
    mutating func claim(_ namespace: Namespace, for file: String, service: String?) throws(SchemaError) -> Bool {
        let location = files.location(file)
        try checkName(namespace, at: location)
        if let first = seen[namespace] {
            if let synced = schema.sync?.service, services[namespace] == synced, service != synced {
                reader.note(
                    .otherService, location,
                    "\(namespace) is also in the data source \(synced), which syncs: this schema is not used")
                return false
            }
            if isForLint, let other = services[namespace], other != service {
                reader.note(
                    .otherService, location,
                    "\(namespace) is also in the data source \(other): only that one is judged")
                return false
            }
            throw SchemaError(
                .namespaceDuplicate, at: location, "\(namespace) has two schemas",
                remedy: "the other is \(first); give a folder that holds one of them")
        }
        seen[namespace] = location
        services[namespace] = service
        return wanted == nil || wanted == namespace || isForLint
    }

    /// Reads the links of the collection that was read last.
    mutating func read(links json: LocatedJSON) throws(SchemaError) {
        guard let last = schema.collections.indices.last else { return }
        var reader = RelationshipReader(root: schema.collections[last].root)
        let noted = self.reader.notes.count
        do throws(SchemaError) { schema.collections[last].relationships = try reader.relationships(json) } catch {
            try self.reader.note(error)
        }
        self.reader.notes += reader.notes
        attribute(from: noted, to: schema.collections[last].namespace)
    }

    private mutating func attribute(from first: Int, to namespace: Namespace) {
        for index in reader.notes.indices[first...] { reader.notes[index].namespace = namespace }
    }
}

extension SchemaReading {
    /// Whether the folder is an app: the reader found the app's name, or read a file on which schemas depend.
    private var isApp: Bool { schema.appName != nil || !files.sources.isEmpty }

    private func nothingFound() -> SchemaError {
        let place = files.location()
        if let wanted, let location = seen[wanted] {
            return SchemaError(
                .schemaMissing, at: location, "the schema of \(wanted) is a placeholder", remedy: "write its schema")
        }
        if let wanted, !seen.isEmpty {
            let hint = Spelling.hint(for: wanted.description, among: seen.keys.map(\.description).sorted())
            return SchemaError(
                .schemaMissing, at: place, "there is no schema of \(wanted) here",
                remedy: hint ?? "there is one of \(seen.keys.sorted().map(\.description).joined(separator: ", "))")
        }
        if let first = seen.values.map(\.description).sorted().first {
            return SchemaError(
                .schemaMissing, at: place, "every schema here is a placeholder", remedy: "the first is \(first)")
        }
        if isApp {
            return SchemaError(
                .schemaMissing, at: place, "the app has no schema",
                remedy:
                    "schemas are in data_sources/<service>/<database>/<collection>/schema.json; in legacy exports, in "
                    + "services/<service>/rules")
        }
        let unnamed = files.isFolder ? unnamedSchemas() : []
        if let first = unnamed.first {
            return SchemaError(
                .namespaceUnknown, at: files.location(first), "the file does not say which collection it covers",
                remedy: "name it DATABASE.\(first)"
                    + (unnamed.count > 1 ? ", and the folder's other schemas likewise" : ""))
        }
        let below = isSuggested ? [] : SchemaSearch.folders(below: files.root.string).map(files.shown)
        if !below.isEmpty {
            return SchemaError(
                .schemaMissing, at: place, "the folder itself holds no schema",
                remedy: below.count == 1
                    ? "\(below[0]) does: name that folder"
                    : "these do: \(below.prefix(4).joined(separator: ", "))\(below.count > 4 ? ", …" : "")")
        }
        return SchemaError(
            .schemaMissing, at: place, "the folder holds no schema",
            remedy: "give an app folder with root_config.json, <database>.<collection>.json files, or one schema.json "
                + "with --collection")
    }

    /// Returns the files in the folder that hold a schema, but whose names are not `DATABASE.COLLECTION.json`.
    private func unnamedSchemas() -> [String] {
        ((try? files.entries()) ?? []).filter { name in
            guard name.hasSuffix(".json"), Namespace(String(name.dropLast(".json".count))) == nil,
                name != "schema.json", files.isFile(name), let json = try? files.parsed(name).json
            else { return false }
            return json["$jsonSchema"] != nil || json["bsonType"] != nil && json["properties"] != nil
        }
    }
}
