/// Reads the sync configuration of an app.
///
/// Keys that no command needs may have any value. Source: `semantics.md` sections 2.3 and 2.4 of the project's
/// reference.
struct SyncReader {
    private let json: LocatedJSON
    private var places: [String: SourceLocation] = [:]

    /// Reads `sync/config.json`, or the sync configuration in a data source's `config.json`, as in older exports.
    /// - Parameter type: the mode of sync; `nil` to read it from the key `type`.
    /// - Returns: `nil` if sync was never configured.
    static func configuration(_ json: LocatedJSON, type: String? = nil) throws(SchemaError) -> SyncConfiguration? {
        guard json.members != nil else {
            throw SchemaError(.wrongValue, at: json.location, "the sync configuration must be an object")
        }
        var reader = SyncReader(json: json)
        return try reader.read(type: type)
    }

    private init(json: LocatedJSON) { self.json = json }

    private mutating func read(type: String?) throws(SchemaError) -> SyncConfiguration? {
        guard let mode = try mode(type: type) else { return nil }
        var result = SyncConfiguration(mode: mode, location: json.location)
        result.state = try state()
        result.pausedAt = result.state == .paused ? json.present("last_disabled")?.integer : nil
        result.isInDevelopment = try json.flag("development_mode_enabled")
        result.isRecoveryDisabled = try json.flag("is_recovery_mode_disabled")
        result.service = try json.string("service_name")
        result.clientMaximumOfflineDays = json.present("client_max_offline_days")?.integer
        result.queryableFields = try names("queryable_fields_names")
        result.indexedQueryableFields = try names("indexed_queryable_fields_names")
        result.collectionQueryableFields = try collectionFields()
        result.asymmetricTables = try names("asymmetric_tables")
        result.hasRoles = hasRoles
        for member in json.members ?? [] { places[member.name] = member.value.location }
        result.places = places
        return result
    }

    private mutating func mode(type: String?) throws(SchemaError) -> SyncConfiguration.Mode? {
        let own = try json.string("type")
        switch type ?? own {
        case "flexible": return .flexible
        case "partition": return try partition()
        case let other?:
            throw SchemaError(
                .wrongValue, at: json["type"]?.location ?? json.location, "unknown type of sync \"\(other)\"",
                remedy: Spelling.hint(for: other, among: ["flexible", "partition"]) ?? "write flexible or partition")
        case nil:
            // Older exports do not state the type; only a configuration of Flexible Sync has `queryable_fields_names`.
            return json.present("queryable_fields_names") == nil ? try partition() : .flexible
        }
    }

    private mutating func partition() throws(SchemaError) -> SyncConfiguration.Mode? {
        guard let partition = json.present("partition") else { return nil }
        guard partition.members != nil else {
            throw SchemaError(.wrongValue, at: partition.location, "partition must be an object, not \(partition.kind)")
        }
        guard let field = try partition.string("key") else { return nil }
        guard let name = try partition.string("type"), let json = partition["type"] else {
            throw SchemaError(
                .wrongValue, at: partition.location, "the partition key has no type",
                remedy: "write type \"string\", \"objectId\", \"long\" or \"uuid\"")
        }
        guard let type = TypeAlias(bsonType: name)?.type else {
            throw SchemaError(
                .unknownType, at: json.location, "unknown type \"\(name)\" of the partition key",
                remedy: TypeAlias.remedy(bsonType: name))
        }
        places["partition.key"] = partition["key"]?.location
        places["partition.type"] = json.location
        let isRequired = partition.present("required") == nil ? nil : try partition.flag("required")
        return .partition(SyncConfiguration.PartitionKey(field: field, type: type, isRequired: isRequired))
    }

    /// Reads the state of sync; `nil` if the file does not state it.
    ///
    /// The documentation of legacy exports shows a Boolean, but real exports have a string: `enabled`, an empty string
    /// if sync was terminated, or any other string if sync is paused.
    private func state() throws(SchemaError) -> SyncConfiguration.State? {
        guard let state = json.present("state") else { return nil }
        if case .scalar(.bool(let isOn)) = state.value { return isOn ? .enabled : .paused }
        guard let word = try json.string("state") else { return .terminated }
        return word == "enabled" ? .enabled : .paused
    }

    private var hasRoles: Bool {
        let permissions = json["permissions"]
        return !(permissions?["rules"]?.members ?? []).isEmpty
            || !(permissions?["defaultRoles"]?.elements ?? []).isEmpty
    }

    private mutating func names(_ key: String) throws(SchemaError) -> [String] {
        guard let list = json.present(key) else { return [] }
        return try names(list, key: key)
    }

    private mutating func names(_ list: LocatedJSON, key: String) throws(SchemaError) -> [String] {
        guard case .array(let entries) = list.value else {
            throw SchemaError(.wrongValue, at: list.location, "\(key) must be a list of names, not \(list.kind)")
        }
        var result: [String] = []
        for entry in entries {
            guard let name = entry.text else {
                throw SchemaError(.wrongValue, at: entry.location, "\(key) must list names, not \(entry.kind)")
            }
            places["\(key).\(name)"] = entry.location
            if !result.contains(name) { result.append(name) }
        }
        return result
    }

    private mutating func collectionFields() throws(SchemaError) -> [String: [String]] {
        let key = "collection_queryable_fields_names"
        guard let map = json.present(key) else { return [:] }
        guard let members = map.members else {
            throw SchemaError(.wrongValue, at: map.location, "\(key) must be an object of lists, not \(map.kind)")
        }
        var result: [String: [String]] = [:]
        for member in members where !member.value.isNull {
            places["\(key).\(member.name)"] = member.nameLocation
            result[member.name, default: []] += try names(member.value, key: "\(key).\(member.name)")
        }
        return result
    }
}
