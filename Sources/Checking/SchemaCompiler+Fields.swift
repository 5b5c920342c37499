import ServerSchema

extension SchemaCompiler {
    /// Lays out an object's named fields, and those that are required without being named.
    mutating func compileFields(_ schema: SchemaNode, of index: Int, into node: inout CompiledSchema.Node) {
        let declared = Set(schema.properties.map(\.name))
        var seen: Set<String> = []
        var required = schema.required.filter { seen.insert($0).inserted }
        let partition = node.place == .root ? surroundings.partition : nil
        // The walk looks out for it as for a required field, also where it may be absent.
        if let partition, seen.insert(partition.field).inserted { required.append(partition.field) }
        var names = schema.properties.map { (name: $0.name, schema: $0.node, isDeclared: true) }
        for name in required where !declared.contains(name) {
            names.append((name, SchemaNode(location: schema.location), false))
        }
        let requiredIndexes = Dictionary(uniqueKeysWithValues: required.enumerated().map { ($1, $0) })
        node.requiredCount = Int32(required.count)
        node.required = required.count >= 64 ? .max : (1 << UInt64(required.count)) - 1

        // An object's fields stand side by side, so all of them are laid out before any is looked into.
        let first = fields.count
        let firstNode = reserve(names.count, path: paths[index])
        for (offset, entry) in names.enumerated() {
            appendField(node: firstNode + offset, requiredIndex: requiredIndexes[entry.name], entry.isDeclared)
        }
        node.fields = table.append(names.map(\.name))
        for (offset, entry) in names.enumerated() {
            let isRequired = schema.required.contains(entry.name)
            compileField(
                entry.schema, name: entry.name, isRequired, field: first + offset, of: node, at: paths[index])
            if let partition, partition.field == entry.name {
                compilePartition(partition, isRequired, field: first + offset)
            }
        }
    }

    private mutating func appendField(node: Int, requiredIndex: Int?, _ isDeclared: Bool) {
        var field = CompiledSchema.Field(node: Int32(node), isDeclared: isDeclared)
        if let requiredIndex {
            field.requiredIndex = Int32(requiredIndex)
            field.requiredBit = requiredIndex < 64 ? 1 << UInt64(requiredIndex) : 0
        }
        fields.append(field)
    }

    private mutating func compileField(
        _ schema: SchemaNode, name: String, _ isRequired: Bool, field: Int, of parent: CompiledSchema.Node,
        at path: SchemaPath
    ) {
        let index = Int(fields[field].node)
        paths[index] = path.appending(.field(name))
        var flags = parent.flags.intersection(.inTuple)
        if isRequired { flags.insert(.required) }
        if parent.place != .root { flags.insert(.embedded) }
        let isID = parent.place == .root && name == "_id"
        compile(schema, at: index, place: isID ? .id : .field, flags: flags)
        if schema.types == [.array] || (schema.types == [.object] && schema.isDictionary) {
            fields[field].whenMissing = .possible
        }
        if let value = schema.defaultValue { defaults.append((field, value)) }
    }
}
