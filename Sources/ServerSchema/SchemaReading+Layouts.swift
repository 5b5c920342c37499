internal import BSON
internal import SystemPackage

/// Reads the folder layouts of each generation of App Services exports.
extension SchemaReading {
    /// Reads an app, or a folder of schemas; ignores all other files.
    mutating func readFolder() throws(SchemaError) {
        for name in ["root_config.json", "realm_config.json"] where files.isFile(name) {
            try readRootConfig(name)
            try readSync()
            return try files.isFolder("data_sources") ? readServices(in: "data_sources") : readLegacyServices()
        }
        for name in ["config.json", "stitch.json"] where try isLegacyApp(name) {
            try readRootConfig(name)
            return try readLegacyServices()
        }
        if files.root.lastComponent?.string == "data_sources" { return try readServices(in: "") }
        if files.isFolder("data_sources") { return try readServices(in: "data_sources") }
        // The folder may contain the services of a legacy app without the app's configuration.
        try readLegacyServices()
        try readFlatFiles()
        try readDatabases(in: "", service: try dataSource(in: "")?.name)
    }

    /// Whether a file with a common name, such as `config.json`, is the configuration of a legacy app.
    private func isLegacyApp(_ name: String) throws(SchemaError) -> Bool {
        guard files.isFile(name) else { return false }
        if files.isFolder("services") { return true }
        return (try? files.parsed(name).json)?["config_version"] != nil
    }

    private mutating func readRootConfig(_ name: String) throws(SchemaError) {
        let environment = try files.parsed(name).json["environment"]?.text ?? ""
        let file = "environments/\(environment.isEmpty ? "no-environment" : environment).json"
        let values = files.isFile(file) ? try files.parsed(file).json["values"] : nil
        files.environment = EnvironmentValues(file: file, values: values)
        let config = try files.json(name)
        guard config.members != nil else {
            throw SchemaError(.wrongValue, at: config.location, "an app's configuration must be an object")
        }
        schema.appName = config["name"]?.text
        guard let id = config["app_id"]?.text, !id.isEmpty else { return }
        if ObjectID(id) != nil { schema.appID = id } else { schema.clientAppID = id }
    }

    private mutating func readSync() throws(SchemaError) {
        guard files.isFile("sync/config.json") else { return }
        try attempt { reading throws(SchemaError) in
            reading.schema.sync = try SyncReader.configuration(
                try reading.files.json("sync/config.json", isSource: false))
        }
    }

    private mutating func readServices(in folder: String) throws(SchemaError) {
        var services: [(folder: String, name: String)] = []
        for service in try files.folders(in: folder) {
            let source = try dataSource(in: service)
            services.append((service, source?.name ?? files.name(of: service)))
        }
        // The data source that syncs is read first, because its schema is used if another data source has a schema of
        // the same collection.
        if let first = services.firstIndex(where: { $0.name == schema.sync?.service }) { services.swapAt(0, first) }
        for service in services {
            try readDatabases(in: service.folder, service: service.name)
            try readRules("\(service.folder)/default_rule.json", of: nil, service: service.name)
        }
    }

    /// Reads the `config.json` of a data source; `nil` if it does not exist, or has neither a type nor a name.
    private mutating func dataSource(in folder: String) throws(SchemaError) -> DataSource? {
        let file = folder.isEmpty ? "config.json" : "\(folder)/config.json"
        guard files.isFile(file) else { return nil }
        let config = try files.json(file, isSource: false)
        guard config.members != nil, config["type"] != nil || config["name"] != nil else { return nil }
        let name = try config.string("name")
        let source = DataSource(
            folder: files.name(of: folder), name: name ?? files.name(of: folder), type: try config.string("type"),
            location: config["name"]?.location ?? config.location)
        schema.dataSources.append(source)
        try readServiceSync(config, service: source.name)
        return source
    }

    /// Reads the sync configuration from the `config.json` of a data source.
    ///
    /// Older exports have the configuration in this file, because they have no `sync/config.json`.
    private mutating func readServiceSync(_ config: LocatedJSON, service: String) throws(SchemaError) {
        guard schema.sync == nil, let config = config["config"] else { return }
        if let flexible = config.present("flexible_sync") {
            schema.sync = try SyncReader.configuration(flexible, type: "flexible")
        } else if let partition = config.present("sync") {
            schema.sync = try SyncReader.configuration(partition)
        }
        if schema.sync != nil, schema.sync?.service == nil { schema.sync?.service = service }
    }

    private mutating func readDatabases(in folder: String, service: String?) throws(SchemaError) {
        for database in try files.folders(in: folder) {
            for collection in try files.folders(in: database) {
                let namespace = Namespace(
                    database: files.name(of: database), collection: files.name(of: collection))
                try readRules("\(collection)/rules.json", of: namespace, service: service)
                let file = "\(collection)/schema.json"
                guard files.isFile(file) else { continue }
                try attempt { reading throws(SchemaError) in
                    guard try reading.claim(namespace, for: file, service: service),
                        try reading.readFile(file, of: namespace, service: service)
                    else { return }
                    let links = "\(collection)/relationships.json"
                    if reading.files.isFile(links) { try reading.read(links: try reading.files.json(links)) }
                }
            }
        }
    }

    private mutating func readFlatFiles() throws(SchemaError) {
        for file in try files.entries() where file.hasSuffix(".json") && files.isFile(file) {
            guard let namespace = Namespace(String(file.dropLast(".json".count))) else { continue }
            try attempt { reading throws(SchemaError) in
                guard try reading.claim(namespace, for: file, service: nil) else { return }
                _ = try reading.readFile(file, of: namespace, service: nil)
            }
        }
    }

    private mutating func readLegacyServices() throws(SchemaError) {
        guard files.isFolder("services") else { return }
        for folder in try files.folders(in: "services") where files.isFolder("\(folder)/rules") {
            let source = try dataSource(in: folder)
            let service = source?.name ?? files.name(of: folder)
            for file in try files.entries(of: "\(folder)/rules") where file.hasSuffix(".json") && files.isFile(file) {
                try attempt { reading throws(SchemaError) in
                    try reading.readLegacyRules(file, service: service)
                }
            }
        }
    }

    private mutating func readLegacyRules(_ file: String, service: String) throws(SchemaError) {
        let json = try files.json(file, isSource: false)
        // A rules file of a service that is not a data source, such as a web service, names no collection, and is
        // skipped.
        guard let rules = try RulesFile(json) else { return }
        if isForLint { schema.rules.append(AccessRules(namespace: rules.namespace, service: service, json: json)) }
        guard rules.schema != nil, try claim(rules.namespace, for: file, service: service) else { return }
        _ = try readFile(file, of: rules.namespace, service: service)
    }

    private mutating func readRules(_ file: String, of namespace: Namespace?, service: String?) throws(SchemaError) {
        guard isForLint, files.isFile(file) else { return }
        try attempt { reading throws(SchemaError) in
            let json = try reading.files.json(file, isSource: false)
            reading.schema.rules.append(AccessRules(namespace: namespace, service: service, json: json))
        }
    }
}
