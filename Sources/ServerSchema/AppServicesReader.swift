internal import BSON

/// Reads schemas of the App Services dialect into trees of ``SchemaNode``.
///
/// Source: `semantics.md` section 3 of the project's reference.
struct AppServicesReader {
    /// The notes that the reader has made so far.
    var notes: [SchemaNote] = []
    /// Whether an error in a part of a schema becomes a note, and the reader continues without that part.
    ///
    /// If `false`, the reader throws the error.
    var notesErrors = false
    /// The path, from the schema's root, to the part of the schema that is being read.
    private var path: [SchemaPath.Step] = []
    /// The number of schemas that contain the schema that is being read, including itself.
    private var level = 0

    /// Reads one `schema.json`; returns `nil` for `{}`, the placeholder for a collection without a schema.
    mutating func root(_ json: LocatedJSON) throws(SchemaError) -> SchemaNode? {
        guard let members = json.members else {
            throw SchemaError(.wrongValue, at: json.location, "a schema must be an object, not \(json.kind)")
        }
        guard !members.isEmpty else {
            note(.placeholder, json.location, "{} is a placeholder: the collection has no schema")
            return nil
        }
        var root = try node(json)
        if root.types.isEmpty { root.types = [.object] }
        guard root.types == [.object] else {
            let place = (json["bsonType"] ?? json["type"])?.location ?? json.location
            try note(
                SchemaError(
                    .rootNotObject, at: place, "the root of a schema must describe an object",
                    remedy: "write bsonType \"object\""))
            root.types = [.object]
            return root
        }
        if root.property("_id") == nil {
            note(.idMissing, json.location, "properties do not name _id, the primary key: the collection cannot sync")
        }
        return root
    }

    mutating func node(_ json: LocatedJSON, below step: SchemaPath.Step) throws(SchemaError) -> SchemaNode {
        path.append(step)
        defer { path.removeLast() }
        return try node(json)
    }

    mutating func node(_ json: LocatedJSON) throws(SchemaError) -> SchemaNode {
        guard let members = json.members else {
            throw SchemaError(.wrongValue, at: json.location, "a schema must be an object, not \(json.kind)")
        }
        level += 1
        defer { level -= 1 }
        guard level <= SchemaNode.maximumDepth else { throw .tooDeep(at: json.location) }
        try refuseDuplicates(members, what: "keyword")
        if let type = json["type"], json["bsonType"] != nil {
            try note(
                SchemaError(
                    .conflict, at: type.location, "type and bsonType exclude each other", remedy: "keep bsonType"))
        }
        var node = SchemaNode(location: json.location)
        for member in members {
            do throws(SchemaError) { try read(member, into: &node) } catch { try note(error) }
        }
        guard let value = json["default"] else { return node }
        do throws(SchemaError) { node.defaultValue = try defaultValue(value, types: node.types) } catch {
            try note(error)
        }
        return node
    }

    private mutating func read(_ member: LocatedJSON.Member, into node: inout SchemaNode) throws(SchemaError) {
        guard let keyword = Keyword(rawValue: member.name) else { return noteUnknown(member) }
        let value = member.value
        switch keyword {
        case .title: node.title = try LocatedBSON(value).text(of: keyword)
        case .description: node.deprecation = Deprecation(in: try LocatedBSON(value).text(of: keyword))
        case .bsonType, .type: node.types = try types(value, of: keyword)
        case .required: node.required = try names(value, of: keyword)
        case .properties:
            node.hasProperties = true
            node.properties = try properties(value)
        case .items: node.items = try items(value)
        case .uniqueItems: node.uniqueItems = try LocatedBSON(value).flag(of: keyword)
        case .additionalProperties:
            node.hasAdditionalProperties = true
            node.additionalProperties = try additionalProperties(value, of: keyword)
        case .default: break  // The default is read last, because its value depends on the type.
        default:
            if try !readConstraint(keyword, member, into: &node) { noteUnevaluated(keyword, member, in: &node) }
        }
    }

    private mutating func properties(_ json: LocatedJSON) throws(SchemaError) -> [SchemaNode.Property] {
        guard let members = json.members else { throw wrong(.properties, json, "an object of schemas") }
        try refuseDuplicates(members, what: "property")
        var result: [SchemaNode.Property] = []
        for member in members {
            let step = SchemaPath.Step.field(member.name)
            guard member.value.members != nil else {
                try note(
                    SchemaError(
                        .wrongValue, at: member.value.location,
                        "property \"\(member.name)\" must be a schema, not \(member.value.kind)",
                        remedy: member.value.text.map { "write {\"bsonType\": \"\($0)\"}" }), below: step)
                // A property whose value is not a schema is kept with an empty schema, because `required` and links may
                // name the property.
                result.append(
                    SchemaNode.Property(name: member.name, node: SchemaNode(location: member.value.location)))
                continue
            }
            result.append(SchemaNode.Property(name: member.name, node: try node(member.value, below: step)))
        }
        return result
    }

    private mutating func items(_ json: LocatedJSON) throws(SchemaError) -> SchemaNode.Items {
        switch json.value {
        case .object: return .each(try node(json, below: .elements))
        case .array(let elements):
            var nodes: [SchemaNode] = []
            for element in elements { nodes.append(try node(element, below: .elements)) }
            return .tuple(nodes)
        default: throw wrong(.items, json, "a schema")
        }
    }

    /// Reads the value of `additionalProperties` or `additionalItems`.
    mutating func additionalProperties(
        _ json: LocatedJSON, of keyword: Keyword
    ) throws(SchemaError) -> SchemaNode.AdditionalProperties {
        switch json.value {
        case .scalar(.bool(let isAllowed)): return isAllowed ? .allowed : .forbidden
        case .object: return .schema(try node(json, below: keyword == .additionalItems ? .elements : .values))
        default: throw wrong(keyword, json, "a boolean or a schema")
        }
    }

    private mutating func defaultValue(_ json: LocatedJSON, types: [SchemaType]) throws(SchemaError) -> BSONValue? {
        let value = try DefaultValue(types: types).value(json)
        guard value != .null else {
            note(.defaultNull, json.location, "a default of null counts as no default")
            return nil
        }
        return value
    }
}

extension AppServicesReader {
    /// Adds a note for an error in a part of the schema.
    /// - Parameter step: the step from the part that is being read to the part with the error; `nil` if both are the
    ///   same.
    /// - Throws: `error` itself if `notesErrors` is `false`.
    mutating func note(_ error: SchemaError, below step: SchemaPath.Step? = nil) throws(SchemaError) {
        guard notesErrors else { throw error }
        var note = SchemaNote(error)
        note.path = SchemaPath(path + (step.map { [$0] } ?? []))
        notes.append(note)
    }

    mutating func note(_ code: SchemaNote.Code, _ location: SourceLocation, _ message: String) {
        var note = SchemaNote(code, location: location, message: message)
        note.path = SchemaPath(path)
        notes.append(note)
    }

    private mutating func noteUnknown(_ member: LocatedJSON.Member) {
        let isOfOthers = Keyword.ofOtherTools.contains(member.name) || member.name.hasPrefix("x-")
        guard !isOfOthers, let hint = Spelling.hint(for: member.name, among: Keyword.allCases.map(\.rawValue)) else {
            return note(.unknownKeyword, member.nameLocation, "unknown keyword \"\(member.name)\" is ignored")
        }
        note(.misspeltKeyword, member.nameLocation, "unknown keyword \"\(member.name)\" (\(hint))")
    }

    private mutating func noteUnevaluated(
        _ keyword: Keyword, _ member: LocatedJSON.Member, in node: inout SchemaNode
    ) {
        node.unevaluated.append((keyword.rawValue, member.nameLocation))
        let kind = keyword.isDocumented ? "keyword" : "undocumented keyword"
        note(.unevaluatedKeyword, member.nameLocation, "\(kind) \"\(member.name)\" is not evaluated")
    }
}
