import BSON
package import ServerSchema

/// The classes of an app's clients, as its server schema describes them.
///
/// Source: `semantics.md` sections 3.1, 3.3 and 4 of the project's reference.
package struct ObjectClasses: Sendable {
    /// The classes, sorted by name.
    package private(set) var classes: [ObjectClass] = []
    /// Notes on fields, links and primary keys that the classes lack, and on class names that had to be generated.
    package private(set) var notes: [SchemaNote] = []

    private let names: [Namespace: String]

    /// An object whose class must still be made from its schema: a document of a collection, or an embedded object.
    private struct Embedded {
        let name: String
        let node: SchemaNode
        let path: SchemaPath
    }

    /// Reads the classes of all collections of a schema.
    /// - Throws: ``SchemaError`` if two types have the same name, unless both are embedded and have the same
    ///   properties.
    package init(of schema: ServerSchema) throws(SchemaError) {
        names = Dictionary(
            (schema.collections + schema.neighbours).map { ($0.namespace, Self.name(of: $0)) },
            uniquingKeysWith: { first, _ in first })
        var found: [String: (ObjectClass, SourceLocation)] = [:]
        for collection in schema.collections {
            if collection.root.title?.isEmpty ?? true {
                note(
                    collection.root, of: collection, at: SchemaPath(),
                    "the schema has no title: the class is named after the collection")
            }
            let isAsymmetric = schema.sync?.isAsymmetric(collection) ?? false
            var waiting = [Embedded(name: Self.name(of: collection), node: collection.root, path: SchemaPath())]
            while let next = waiting.popLast() {
                let kind: ObjectClass.Kind =
                    next.path.isRoot ? (isAsymmetric ? .asymmetric : .object) : .embedded
                let (read, inside) = readClass(next, as: kind, of: collection)
                waiting += inside
                guard let (known, place) = found[read.name] else {
                    found[read.name] = (read, next.node.location)
                    continue
                }
                let isSame = (known.kind, known.fields) == (read.kind, read.fields) && kind == .embedded
                guard isSame else {
                    throw SchemaError(
                        .conflict, at: next.node.location,
                        "the title \(read.name.quotedAsJSON) names a different type at \(place), and clients have "
                            + "one class per name", remedy: "rename one, or choose one with --collection")
                }
            }
        }
        classes = found.values.map(\.0).sorted { $0.name < $1.name }
    }

    private static func name(of collection: CollectionSchema) -> String {
        collection.root.title.flatMap { $0.isEmpty ? nil : $0 } ?? collection.namespace.collection
    }

    private mutating func readClass(
        _ embedded: Embedded, as kind: ObjectClass.Kind, of collection: CollectionSchema
    ) -> (ObjectClass, inside: [Embedded]) {
        var result = ObjectClass(name: embedded.name, kind: kind, namespace: collection.namespace)
        var inside: [Embedded] = []
        for property in embedded.node.properties {
            let path = embedded.path.appending(.field(property.name))
            let isPrimaryKey = kind != .embedded && property.name == "_id"
            do throws(NoClientType) {
                let isRequired = embedded.node.requires(property.name)
                let type = try fieldType(
                    of: property.node, at: path, isRequired: isRequired, isKey: isPrimaryKey, of: collection,
                    holder: embedded.name, &inside)
                result.fields.append(
                    ObjectClass.Field(name: property.name, type: type, isPrimaryKey: isPrimaryKey))
            } catch {
                result.gaps.append("\(property.name) \(error.reason)")
                note(property.node, of: collection, at: path, "\(path) \(error.reason): the class has no such property")
            }
        }
        if kind != .embedded, !result.fields.contains(where: \.isPrimaryKey) {
            note(embedded.node, of: collection, at: embedded.path, "the class has no primary key: _id is not defined")
        }
        return (result, inside)
    }

    private mutating func note(
        _ node: SchemaNode, of collection: CollectionSchema, at path: SchemaPath, _ message: String
    ) {
        var note = SchemaNote(location: node.location, message: message)
        (note.namespace, note.path) = (collection.namespace, path)
        notes.append(note)
    }
}

/// The error for a field that cannot be a property of a class.
///
/// In notes, `reason` follows the field's name.
private struct NoClientType: Error {
    let reason: String
}

// MARK: types

extension ObjectClasses {
    private mutating func fieldType(
        of node: SchemaNode, at path: SchemaPath, isRequired: Bool, isKey: Bool, of collection: CollectionSchema,
        holder: String, _ inside: inout [Embedded]
    ) throws(NoClientType) -> FieldType {
        let type = try onlyType(of: node)
        let (container, held, step) = try parts(of: node, type)
        let place = step.map { path.appending($0) } ?? path
        let isNullable = node.types.contains(.null)
        if !isKey, let link = collection.link(from: path) ?? collection.link(from: place) {
            if let target = names[link.target], link.foreignKey == "_id" {
                return FieldType(
                    element: .object(target), isOptional: container == nil || container == .dictionary,
                    container: container)
            }
            note(
                node, of: collection, at: path,
                "the link from \(path) leads to \(link.foreignKey) of \(link.target), which has no class: the "
                    + "property holds the key")
        }
        guard let container else {
            let element = try readElement(of: node, type, at: path, of: collection, holder: holder, &inside)
            let isOptional =
                switch element {
                case .scalar: !isRequired || isNullable
                case .object: true
                case .mixed: false
                }
            return FieldType(element: element, isOptional: isOptional, container: nil)
        }
        guard let held else { return FieldType(element: .mixed, isOptional: false, container: container) }
        let heldType = try onlyType(of: held)
        guard try parts(of: held, heldType).container == nil else {
            throw NoClientType(reason: "holds collections, which clients do not have")
        }
        let element = try readElement(of: held, heldType, at: place, of: collection, holder: holder, &inside)
        if case .object = element, container == .set {
            throw NoClientType(reason: "is a set of embedded objects, which clients do not have")
        }
        let isOptional =
            switch element {
            case .scalar: held.types.contains(.null)
            case .object: container == .dictionary
            case .mixed: false
            }
        return FieldType(element: element, isOptional: isOptional, container: container)
    }

    private func onlyType(of node: SchemaNode) throws(NoClientType) -> SchemaType {
        let types = node.types.filter { $0 != .null }
        if types.count == 1, let type = types.first { return type }
        throw NoClientType(
            reason: types.isEmpty
                ? "has no type" : "has several types: \(types.map(\.rawValue).joined(separator: ", "))")
    }

    /// Returns the kind of container that a value is (list, set or dictionary), the schema of its elements, and the
    /// step that leads to them on a path.
    ///
    /// For any other value, all three results are `nil`. The schema is also `nil` if the elements have none.
    private func parts(
        of node: SchemaNode, _ type: SchemaType
    ) throws(NoClientType) -> (container: FieldType.Container?, held: SchemaNode?, SchemaPath.Step?) {
        if type == .array {
            guard case .each(let element) = node.items else {
                throw NoClientType(reason: "does not say what its elements are")
            }
            return (node.uniqueItems ? .set : .list, element, .elements)
        }
        // The test for a dictionary needs one type. Whether the value may be null as well does not matter, so null is
        // left out of the types.
        var node = node
        node.types = [type]
        return node.isDictionary ? (.dictionary, node.dictionaryValue, .values) : (nil, nil, nil)
    }

    private mutating func readElement(
        of node: SchemaNode, _ type: SchemaType, at path: SchemaPath, of collection: CollectionSchema, holder: String,
        _ inside: inout [Embedded]
    ) throws(NoClientType) -> FieldType.Element {
        if let scalar = FieldType.Scalar(type) { return .scalar(scalar) }
        switch type {
        case .mixed: return .mixed
        case .object:
            guard !node.properties.isEmpty else { throw NoClientType(reason: "is an object without fields") }
            let name = embeddedName(of: node, at: path, of: collection, holder: holder)
            inside.append(Embedded(name: name, node: node, path: path))
            return .object(name)
        default: throw NoClientType(reason: "has the type \(type.rawValue), which clients do not have")
        }
    }

    private mutating func embeddedName(
        of node: SchemaNode, at path: SchemaPath, of collection: CollectionSchema, holder: String
    ) -> String {
        if let title = node.title, !title.isEmpty { return title }
        let name = "\(holder)_\(path.lastField ?? "")"
        note(node, of: collection, at: path, "the embedded object at \(path) has no title: its class is named \(name)")
        return name
    }
}

extension SchemaPath {
    fileprivate var lastField: String? {
        for case .field(let name) in steps.reversed() { return name }
        return nil
    }
}
