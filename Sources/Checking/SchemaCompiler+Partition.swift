import ServerSchema

extension SchemaCompiler {
    /// Lets a field be judged as the partition key, too: by the type of the app's partitions, and by whether a document
    /// must be in one.
    /// - Parameter isRequired: Whether the collection's own schema requires it.
    mutating func compilePartition(_ key: SyncConfiguration.PartitionKey, _ isRequired: Bool, field: Int) {
        let index = Int(fields[field].node)
        var node = nodes[index]
        node.flags.insert(.partition)
        let mustBeThere = key.isRequired ?? isRequired
        if mustBeThere { node.flags.insert(.partitionRequired) }
        if mustBeThere || !isRequired {
            fields[field].whenMissing = .unpartitioned(isAllowed: !mustBeThere)
            // A default is what clients see; it puts no document in a partition.
            defaults.removeAll { $0.field == field }
        }
        narrow(&node, to: [key.type])
        nodes[index] = node
        if !fields[field].isDeclared { expectations[index] = key.type.rawValue }
    }

    /// Leaves of a node's types those that a key of `types` may have.
    func narrow(_ node: inout CompiledSchema.Node, to types: [SchemaType]) {
        node.accepts.formIntersection(TypeMask(keyOf: types))
        if types == [.uuid] { node.flags.insert(.uuid) }
        if node.flags.contains(.uuid) { node.flags.remove(.binary) }
        node.plain = plainTypes(of: node)
    }
}
