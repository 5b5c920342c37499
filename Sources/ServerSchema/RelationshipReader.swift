public import BSON

/// A link: a field that holds the keys of documents of another collection.
///
/// Source: `relationships.json`, `semantics.md` sections 2.2 and 3.3 of the project's reference.
public struct Relationship: Hashable, Sendable {
    /// The path of the keys: a field, the elements of an array, or the values of a dictionary.
    public var source: SchemaPath
    /// The data source that the link names; `nil` if it names none.
    public var service: String?
    /// The collection of the linked documents.
    public var target: Namespace
    /// The field of the linked documents that contains the key; Sync requires `_id`.
    public var foreignKey: String
    /// Whether the link's field holds many keys of linked documents instead of one.
    public var isList: Bool
    /// The position of the link's entry in its file.
    public var location: SourceLocation

    /// Creates a link from its parts.
    public init(
        source: SchemaPath, service: String? = nil, target: Namespace, foreignKey: String = "_id", isList: Bool = false,
        location: SourceLocation
    ) {
        self.source = source
        self.service = service
        self.target = target
        self.foreignKey = foreignKey
        self.isList = isList
        self.location = location
    }
}

/// Reads the links of a collection from `relationships.json`, or from the same map in a legacy rules file.
///
/// App Services accepts a link that is incomplete, or whose field is not in the schema. The reader leaves such a link
/// out, and adds a note if the link is not empty. Source: `semantics.md` section 2.2 of the project's reference.
struct RelationshipReader {
    /// The root schema of the collection from which the links start.
    let root: SchemaNode
    /// The notes that the reader has made so far.
    private(set) var notes: [SchemaNote] = []

    init(root: SchemaNode) { self.root = root }

    /// Reads the links from an object: each name is the path of a field, and its value is the link of the field.
    /// - Throws: ``SchemaError`` if the JSON is not an object, or if a value in it has the wrong type.
    mutating func relationships(_ json: LocatedJSON) throws(SchemaError) -> [Relationship] {
        guard let members = json.members else {
            throw SchemaError(.wrongValue, at: json.location, "relationships must be an object, not \(json.kind)")
        }
        var result: [Relationship] = []
        for member in members {
            guard let fields = member.value.members else {
                throw SchemaError(
                    .wrongValue, at: member.value.location,
                    "the link of \"\(member.name)\" must be an object, not \(member.value.kind)",
                    remedy: "write ref, foreign_key and is_list")
            }
            guard !fields.isEmpty, let link = try relationship(member) else { continue }
            result.append(link)
        }
        return result
    }

    private mutating func relationship(_ member: LocatedJSON.Member) throws(SchemaError) -> Relationship? {
        let json = member.value
        let path = path(of: member)
        guard let (service, target) = try target(of: json, path: path ?? SchemaPath()) else { return nil }
        guard let path else { return nil }
        if let key = json.present("source_key"), let text = key.text, text != member.name {
            note(key.location, path, "source_key is \"\(text)\", but the link's own name is \"\(member.name)\"")
        }
        // The keys may also be `isList` and `foreignKey`, because the user interface of App Services writes them in
        // camel case.
        let isList = try json.flag(json["is_list"] == nil ? "isList" : "is_list")
        let foreignKey = try json.string(json["foreign_key"] == nil ? "foreignKey" : "foreign_key")
        return Relationship(
            source: path, service: service, target: target, foreignKey: foreignKey ?? "_id", isList: isList,
            location: member.nameLocation)
    }

    private mutating func target(
        of json: LocatedJSON, path: SchemaPath
    ) throws(SchemaError) -> (service: String?, Namespace)? {
        if let metadata = json.present("metadata") {
            guard let database = try metadata.string("database"), let collection = try metadata.string("collection")
            else {
                note(metadata.location, path, "metadata names no database and collection")
                return nil
            }
            return (try metadata.string("data_source"), Namespace(database: database, collection: collection))
        }
        guard let text = try json.string("ref"), let ref = json["ref"] else {
            note(json.location, path, "the link has no ref")
            return nil
        }
        let parts = text.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[0] == "#", ["relationship", "stitch"].contains(parts[1]),
            parts[2...].allSatisfy({ !$0.isEmpty })
        else {
            note(ref.location, path, "the ref \"\(text)\" is not #/relationship/<data source>/<database>/<collection>")
            return nil
        }
        return (parts[2], Namespace(database: parts[3], collection: parts[4]))
    }

    /// Returns the path of the field from which the link starts; adds a note and returns `nil` if there is no such
    /// field.
    private mutating func path(of member: LocatedJSON.Member) -> SchemaPath? {
        var steps: [SchemaPath.Step] = []
        var node = root
        for name in member.name.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
            guard let (step, next) = Self.step(name, from: node) else {
                let path = SchemaPath(steps)
                let holder = path.isRoot ? "the schema" : "\(path)"
                let hint = Spelling.hint(for: name, among: node.properties.map(\.name)).map { " (\($0))" } ?? ""
                note(
                    member.nameLocation, path, "the link starts from \"\(name)\", which \(holder) does not have\(hint)")
                return nil
            }
            steps.append(step)
            node = next
        }
        return SchemaPath(steps)
    }

    private static func step(_ name: String, from node: SchemaNode) -> (SchemaPath.Step, SchemaNode)? {
        if let property = node.property(name) { return (.field(name), property) }
        guard name == "[]" else { return nil }
        if case .each(let element) = node.items { return (.elements, element) }
        return node.dictionaryValue.map { (.values, $0) }
    }

    private mutating func note(_ location: SourceLocation, _ path: SchemaPath, _ message: String) {
        var note = SchemaNote(.linkUnresolved, location: location, message: message)
        note.path = path
        notes.append(note)
    }
}
