/// The model of ObjectBox clients: which collections sync, and the types of their properties.
///
/// ObjectBox's build tools write the model to the file `objectbox-model.json`, which the Sync Server reads.
public struct ObjectBoxModel: Hashable, Sendable {
    /// A type of objects, to which one collection maps.
    public struct Entity: Hashable, Sendable {
        /// The name of the collection: the entity's external name, or its own name if it has none.
        public var collection: String
        /// The properties except the object's ID; the field `_id` of a document maps to the ID.
        public var properties: [Property]
        /// Whether the entity syncs.
        public var isSynced: Bool
    }

    /// A property of an entity, or a relation to many objects.
    public struct Property: Hashable, Sendable {
        /// The name of the field: the property's external name, or its own name if it has none.
        public var fieldName: String
        /// ObjectBox's number for the property's type; 0 for a relation to many objects.
        public var type: Int
        /// ObjectBox's number for the type of the stored value; `nil` if the model states none, so that the default for
        /// ``type`` applies.
        public var externalType: Int?
        /// Whether the property is a relation to many objects, which a document stores as an array of keys.
        public var isToMany = false
    }

    /// The entities of the model, in the file's order.
    public var entities: [Entity]
    /// The model file, with its text.
    public var source: SchemaSource

    /// Returns the entity to which a collection maps; `nil` if there is none.
    public subscript(collection: String) -> Entity? { entities.first { $0.collection == collection } }

    /// The entities that sync; all entities if the model marks none of them as synced.
    public var synced: [Entity] {
        let marked = entities.filter(\.isSynced)
        return marked.isEmpty ? entities : marked
    }
}

extension ObjectBoxModel {
    /// The bits of the member `flags` of an entity or a property: `syncs` marks an entity that syncs, and `isID` marks
    /// the property that holds the object's ID.
    private static let (syncs, isID) = (2, 1)

    /// Reads a model file.
    /// - Throws: ``SchemaError`` if the file cannot be read, or is not a model of ObjectBox.
    public static func read(at path: String) throws(SchemaError) -> ObjectBoxModel {
        try parse(try SourceFile.text(of: path), path: path)
    }

    /// Reads the text of a model file; errors state `path`.
    /// - Throws: ``SchemaError`` if the text is not a model of ObjectBox.
    package static func parse(_ text: String, path: String) throws(SchemaError) -> ObjectBoxModel {
        let json = try JSONParser.parse(Array(text.utf8), file: path)
        guard case .object = json.value, let list = json["entities"], case .array(let entities) = list.value else {
            throw SchemaError(
                .wrongValue, at: json.location, "this is no model of ObjectBox: it has no list \"entities\"",
                remedy: "name the objectbox-model.json that the client's build writes")
        }
        var read: [Entity] = []
        for entity in entities { read.append(try Self.entity(entity)) }
        return ObjectBoxModel(entities: read, source: SchemaSource(path: path, text: text))
    }

    /// Whether a file is a model of ObjectBox, and not another schema; `false` if the file cannot be read.
    package static func isModel(at path: String) -> Bool {
        guard let text = try? SourceFile.text(of: path),
            let json = try? JSONParser.parse(Array(text.utf8), file: path)
        else { return false }
        return json["entities"] != nil && json["modelVersion"] != nil
    }

    private static func entity(_ json: LocatedJSON) throws(SchemaError) -> Entity {
        var properties: [Property] = []
        for property in try list("properties", of: json) {
            if (try integer("flags", of: property) ?? 0) & isID != 0 { continue }
            guard let type = try integer("type", of: property) else {
                throw SchemaError(.wrongValue, at: property.location, "a property needs a number as \"type\"")
            }
            properties.append(
                Property(
                    fieldName: try name(of: property), type: type,
                    externalType: try integer("externalType", of: property)))
        }
        for relation in try list("relations", of: json) {
            properties.append(Property(fieldName: try name(of: relation), type: 0, isToMany: true))
        }
        return Entity(
            collection: try name(of: json), properties: properties,
            isSynced: (try integer("flags", of: json) ?? 0) & syncs != 0)
    }

    /// Returns the external name of an entity or property, or its own name if it has none.
    private static func name(of json: LocatedJSON) throws(SchemaError) -> String {
        if let external = try json.string("externalName") { return external }
        guard let name = try json.string("name") else {
            throw SchemaError(.wrongValue, at: json.location, "an entity or property needs a \"name\"")
        }
        return name
    }

    private static func list(_ key: String, of json: LocatedJSON) throws(SchemaError) -> [LocatedJSON] {
        guard let value = json.present(key) else { return [] }
        guard case .array(let elements) = value.value else {
            throw SchemaError(.wrongValue, at: value.location, "\"\(key)\" must be a list, not \(value.kind)")
        }
        return elements
    }

    private static func integer(_ key: String, of json: LocatedJSON) throws(SchemaError) -> Int? {
        guard let value = json.present(key) else { return nil }
        guard let integer = value.integer else {
            throw SchemaError(.wrongValue, at: value.location, "\"\(key)\" must be a whole number, not \(value.kind)")
        }
        return integer
    }
}
