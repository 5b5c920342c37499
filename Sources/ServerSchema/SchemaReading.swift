internal import BSON
internal import FoundationEssentials
internal import SystemPackage

/// One run over a file or folder: finds the schemas, and says which collection each belongs to.
///
/// Source of the layouts: `semantics.md` section 2 of the project's reference.
struct SchemaReading {
    var files: SchemaFiles
    /// The only collection that is asked for.
    let wanted: Namespace?

    private var reader = AppServicesReader()
    private var schema = ServerSchema(dialect: .appServices, collections: [])
    private var seen: [Namespace: SourceLocation] = [:]

    init(files: SchemaFiles, wanted: Namespace?) {
        self.files = files
        self.wanted = wanted
    }

    /// Reads everything.
    mutating func run() throws(SchemaError) -> ServerSchema {
        if files.isFolder { try readFolder() } else { try readSingleFile() }
        if schema.collections.isEmpty { throw nothingFound() }
        schema.collections.sort { $0.namespace < $1.namespace }
        schema.notes = reader.notes
        schema.sources = files.sources.sorted { $0.path < $1.path }
        return schema
    }

    private mutating func readSingleFile() throws(SchemaError) {
        guard let namespace = wanted ?? namespaceOfPath() else {
            throw SchemaError(
                .namespaceUnknown, at: files.location(), "the file does not say which collection it covers",
                remedy: "give --collection DB.COLL")
        }
        try read("", as: namespace)
    }

    /// What a path that ends in `data_sources/<service>/<database>/<collection>/schema.json` says.
    private func namespaceOfPath() -> Namespace? {
        let folder = FilePath(FileManager.default.currentDirectoryPath)
        let parts = folder.pushing(files.root).lexicallyNormalized().components.suffix(5).map(\.string)
        guard parts.count == 5, parts[0] == "data_sources", parts[4] == "schema.json" else { return nil }
        return Namespace(database: parts[2], collection: parts[3])
    }

    private mutating func readFolder() throws(SchemaError) {
        for name in ["root_config.json", "realm_config.json"] where files.isFile(name) {
            try readRootConfig(name)
            return try readServices(in: "data_sources")
        }
        try refuseLegacy()
        if files.root.lastComponent?.string == "data_sources" { return try readServices(in: "") }
        if files.isFolder("data_sources") { return try readServices(in: "data_sources") }
        try readFlatFiles()
        try readDatabases(in: "")
    }

    private func refuseLegacy() throws(SchemaError) {
        for name in ["config.json", "stitch.json"] where files.isFile(name) && files.isFolder("services") {
            throw SchemaError(
                .unsupported, at: files.location(name), "this is a legacy app export, which is not read yet",
                remedy: "pull the app again with a newer CLI, or give its schemas as <database>.<collection>.json files"
            )
        }
    }

    private mutating func readRootConfig(_ name: String) throws(SchemaError) {
        let config = try files.json(name)
        guard config.members != nil else {
            throw SchemaError(.wrongValue, at: config.location, "an app's configuration must be an object")
        }
        schema.appName = config["name"]?.text
        guard let id = config["app_id"]?.text, !id.isEmpty else { return }
        if ObjectID(id) != nil { schema.appID = id } else { schema.clientAppID = id }
    }

    private mutating func readServices(in folder: String) throws(SchemaError) {
        guard folder.isEmpty || files.isFolder(folder) else { return }
        for service in try files.folders(in: folder) { try readDatabases(in: service) }
    }

    private mutating func readDatabases(in folder: String) throws(SchemaError) {
        for database in try files.folders(in: folder) {
            for collection in try files.folders(in: database) where files.isFile("\(collection)/schema.json") {
                let namespace = Namespace(
                    database: files.name(of: database), collection: files.name(of: collection))
                guard try read("\(collection)/schema.json", as: namespace) else { continue }
                try noteRelationships("\(collection)/relationships.json")
            }
        }
    }

    private mutating func readFlatFiles() throws(SchemaError) {
        for name in try files.entries() where name.hasSuffix(".json") && files.isFile(name) {
            guard let namespace = Namespace(String(name.dropLast(".json".count))) else { continue }
            try read(name, as: namespace)
        }
    }

    /// Reads one schema file; `false` when its collection is not asked for.
    @discardableResult
    private mutating func read(_ file: String, as namespace: Namespace) throws(SchemaError) -> Bool {
        let location = files.location(file)
        if let first = seen.updateValue(location, forKey: namespace) {
            throw SchemaError(
                .namespaceDuplicate, at: location, "\(namespace) has two schemas",
                remedy: "the other is \(first); give a folder that holds one of them")
        }
        guard wanted == nil || wanted == namespace else { return false }
        guard let root = try reader.root(try files.json(file)) else { return true }
        schema.collections.append(CollectionSchema(namespace: namespace, root: root))
        return true
    }

    private mutating func noteRelationships(_ file: String) throws(SchemaError) {
        guard files.isFile(file), let members = try files.json(file).members, !members.isEmpty else { return }
        reader.note(.fileUnread, files.location(file), "relationships are not evaluated")
    }
}

extension SchemaReading {
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
        if schema.appName != nil || !files.sources.isEmpty {
            return SchemaError(
                .schemaMissing, at: place, "the app has no schema",
                remedy: "a schema stands in data_sources/<service>/<database>/<collection>/schema.json")
        }
        return SchemaError(
            .schemaMissing, at: place, "the folder holds no schema",
            remedy: "give an app folder with root_config.json, <database>.<collection>.json files, or one schema.json "
                + "with --collection")
    }
}
