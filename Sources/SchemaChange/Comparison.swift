internal import BSON
import ServerSchema

/// Compares two versions of one collection's schema field by field, and collects the differences in `changes`.
struct Comparison {
    let old: CollectionSchema?
    let new: CollectionSchema?
    let map: RenameMap
    var changes: [SchemaChange] = []

    init(from old: CollectionSchema?, to new: CollectionSchema?, renames map: RenameMap) {
        (self.old, self.new, self.map) = (old, new, map)
    }

    /// Whether both versions are validators, in which titles have no meaning.
    var isOfValidators: Bool { [old, new].allSatisfy { $0?.dialect ?? .jsonSchema == .jsonSchema } }

    /// The path of one value in the older version, and its path in the newer version.
    ///
    /// The two paths differ if a field on the path was renamed.
    struct Spot {
        var old = SchemaPath()
        var new = SchemaPath()

        func appending(_ step: SchemaPath.Step) -> Spot { appending(step, step) }
        func appending(_ old: SchemaPath.Step, _ new: SchemaPath.Step) -> Spot {
            Spot(old: self.old.appending(old), new: self.new.appending(new))
        }
    }

    mutating func note(
        _ kind: ChangeKind, at spot: Spot = Spot(), from old: SchemaNode?, to new: SchemaNode?, _ description: String
    ) {
        note(
            kind, at: spot, from: old.map { Field(name: "", node: $0, isRequired: false) },
            to: new.map { Field(name: "", node: $0, isRequired: false) }, description)
    }

    mutating func note(
        _ kind: ChangeKind, at spot: Spot, from old: Field?, to new: Field?, losing holder: SchemaNode? = nil,
        _ description: String
    ) {
        let before = old.map { side($0, of: self.old, at: spot.old) }
        let after = new.map { side($0, of: self.new, at: spot.new) }
        var change =
            SchemaChange(
                kind: kind, namespace: (self.new ?? self.old)?.namespace, path: new == nil ? spot.old : spot.new,
                oldNamespace: (self.old ?? self.new)?.namespace, oldPath: spot.old, old: before, new: after,
                place: holder?.location, description: description)
        change.leavesAnyFields = holder?.furtherFields == .any
        changes.append(change)
    }

    private func side(_ field: Field, of collection: CollectionSchema?, at path: SchemaPath) -> SchemaChange.Side {
        SchemaChange.Side(
            namespace: collection?.namespace, path: path, node: field.node, isRequired: field.isRequired,
            link: collection?.linkWithin(path), location: field.node.location)
    }

    /// Compares the fields, elements and values inside two schemas that have the same ``Shape``, or that are a list and
    /// a set.
    private mutating func compareInside(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        if old.holdsValues, new.holdsValues {
            compareElement(old.values, new.values, at: spot.appending(.values))
        } else if old.admits(.object), new.admits(.object) {
            if old.isEmbedded, new.isEmbedded, !isOfValidators { compareTitles(old, new, at: spot) }
            compareFields(old, new, at: spot)
            compareAdditionalProperties(old, new, at: spot)
        }
        if old.admits(.array), new.admits(.array) { compareElements(old, new, at: spot.appending(.elements)) }
    }

    private mutating func compareElements(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        // If neither version has `items`, the schemas of the elements are generated, and the generated schemas have no
        // `items` either. Comparing the elements of generated schemas would never end.
        guard old.items != nil || new.items != nil else { return }
        guard old.isTuple == new.isTuple, old.elements.count == new.elements.count else {
            let words = "\(spot.new): \(old.elementWords) → \(new.elementWords)"
            return note(.elementTypeChanged, at: spot, from: old, to: new, words)
        }
        for (old, new) in zip(old.elements, new.elements) { compareElement(old, new, at: spot) }
    }

    private mutating func compareElement(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        let change = elementChange(old, new, at: spot)
        if let change { note(change, at: spot, from: old, to: new, "\(spot.new): \(words(old, new))") }
        if change?.code != .embeddingChanged { compareLinks(old, new, at: spot) }
        if change == nil { compareConstraints(old, new, at: spot) }
        if change == nil || change?.code == .listSetChanged { compareInside(old, new, at: spot) }
    }

    private func elementChange(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) -> ChangeKind? {
        let change = Shape(old).elementChange(to: Shape(new)) ?? (isRetyped(old, new) ? .elementTypeChanged : nil)
        if change?.code == .elementTypeChanged, isEmbedding(old, new, at: spot) { return .embeddingChanged }
        return change
    }

    /// Whether the Prisma type of a value changes, for example from `Int` to `BigInt`.
    ///
    /// The BSON type may be the same in both versions. Without Prisma types, the result is `false`.
    private func isRetyped(_ old: SchemaNode, _ new: SchemaNode) -> Bool {
        guard let before = old.scalar, let after = new.scalar else { return false }
        return before != after || old.isPrismaEnum != new.isPrismaEnum
    }

    /// Returns a text with the types of both versions.
    func words(_ old: SchemaNode, _ new: SchemaNode) -> String { "\(old.expectation()) → \(new.expectation())" }
}

/// Compares the fields of objects.
extension Comparison {
    /// Compares the fields of two objects: first the removed fields, then all others in the order of the newer version.
    private mutating func compareFields(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        let (before, after) = (old.fields, new.fields)
        let names = Set(after.map(\.name))
        var known: [String: Int] = [:]
        for (index, field) in before.enumerated() {
            let name = newName(of: field, at: spot)
            if names.contains(name) {
                known[name] = index
            } else {
                let place = spot.appending(.field(field.name), .field(name))
                let kind: ChangeKind =
                    place.old.isID ? .idRemoved : field.isRequired ? .requiredRemoved : .optionalRemoved
                note(kind, at: place, from: field, to: nil, losing: new, "\(place.old) is removed")
            }
        }
        for field in after {
            if let old = known[field.name].map({ before[$0] }) {
                compare(old, field, at: spot.appending(.field(old.name), .field(field.name)))
            } else {
                add(field, at: spot.appending(.field(field.name)))
            }
        }
    }

    private func newName(of field: Field, at spot: Spot) -> String {
        guard let namespace = old?.namespace else { return field.name }
        return map.newName(of: spot.old.appending(.field(field.name)), in: namespace) ?? field.name
    }

    private mutating func add(_ field: Field, at spot: Spot) {
        let type = field.node.types.isEmpty ? "field of any type" : field.node.expectation()
        let rest = field.defaultValue == nil ? "" : ", with a default"
        let kind = field.isRequired ? ChangeKind.requiredAdded : .optionalAdded
        let duty = field.isRequired ? "a required" : "an optional"
        note(kind, at: spot, from: nil, to: field, "\(spot.new) is added as \(duty) \(type)\(rest)")
    }

    private mutating func compare(_ old: Field, _ new: Field, at spot: Spot) {
        if old.name != new.name {
            note(.propertyRenamed, at: spot, from: old, to: new, "\(spot.old) is renamed to \(new.name)")
        }
        let change = change(old, new, at: spot)
        if let change { note(change, at: spot, from: old, to: new, "\(spot.new): \(words(old.node, new.node))") }
        if change?.code != .embeddingChanged {
            compareLinks(old, new, at: spot, inside: change?.code == .cardinalityChanged)
        }
        compareDuty(old, new, at: spot)
        compareDefaults(old, new, at: spot, isSameType: change == nil)
        if change == nil { compareConstraints(old.node, new.node, at: spot) }
        if change == nil || change?.code == .listSetChanged { compareInside(old.node, new.node, at: spot) }
    }

    private func change(_ old: Field, _ new: Field, at spot: Spot) -> ChangeKind? {
        let (before, after) = (Shape(old.node), Shape(new.node))
        let isRetyped = isRetyped(old.node, new.node)
        if spot.old.isID { return before.idChange(to: after) ?? (isRetyped ? .idTypeChanged : nil) }
        let change = before.change(to: after) ?? (isRetyped ? .propertyTypeChanged : nil)
        return change != nil && isEmbedding(old.node, new.node, at: spot) ? .embeddingChanged : change
    }

    private mutating func compareDuty(_ old: Field, _ new: Field, at spot: Spot) {
        guard old.isRequired != new.isRequired else { return }
        // A list in a Prisma schema is neither required nor optional.
        if new.node.isList, self.new?.dialect == .prisma { return }
        if new.isRequired {
            note(.optionalToRequired, at: spot, from: old, to: new, "\(spot.new) becomes required")
        } else {
            note(.requiredToOptional, at: spot, from: old, to: new, "\(spot.new) becomes optional")
        }
    }

    private mutating func compareDefaults(_ old: Field, _ new: Field, at spot: Spot, isSameType: Bool) {
        switch (old.defaultValue, new.defaultValue) {
        case (nil, _?): note(.defaultAdded, at: spot, from: old, to: new, "\(spot.new) gets a default")
        case (_?, nil): note(.defaultRemoved, at: spot, from: old, to: new, "\(spot.new) loses its default")
        case (let before?, let after?):
            // A default that is a number has the type of its property. If the property's type changes, an equal number
            // of the new type counts as the same default.
            let isSame = before.compared(to: after) == .equal && (!isSameType || before.type == after.type)
            if !isSame {
                note(.defaultChanged, at: spot, from: old, to: new, "\(spot.new) gets another default")
            }
        default: break
        }
    }
}

extension SchemaPath {
    fileprivate var isID: Bool { steps == [.field("_id")] }
}

/// Compares object types. Clients know an object type by its title.
extension Comparison {
    /// Compares two versions of the schema of a collection's documents.
    mutating func compareRoots(_ old: SchemaNode, _ new: SchemaNode) {
        switch isOfValidators ? (nil, nil) : (old.typeName, new.typeName) {
        // Without a title, a collection has no object type for clients.
        case (nil, _?): add(type: new, insteadOf: old)
        case (_?, nil): remove(type: old, leaving: new)
        case (let before?, let after?) where before != after:
            note(.typeRenamed, from: old, to: new, "type \(before) is renamed to \(after)")
        default: break
        }
        compareFields(old, new, at: Spot())
        compareAdditionalProperties(old, new, at: Spot())
        compareConstraints(old, new, at: Spot())
    }

    /// Records that clients get a new object type.
    /// - Parameter old: the older schema of the collection, which had no title; `nil` if the collection is new.
    mutating func add(type new: SchemaNode, insteadOf old: SchemaNode? = nil) {
        note(.typeAdded, from: old, to: new, "\(name(of: new)) is added")
    }

    /// Records that clients lose an object type.
    /// - Parameter new: the newer schema of the collection, which has no title; `nil` if the collection is removed.
    mutating func remove(type old: SchemaNode, leaving new: SchemaNode? = nil) {
        note(.typeRemoved, from: old, to: new, "\(name(of: old)) is removed")
    }

    /// Compares the older and the newer title of an embedded object.
    ///
    /// The type of an embedded object without a title has a generated name.
    private mutating func compareTitles(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        guard old.typeName != new.typeName else { return }
        let summary =
            switch (old.typeName, new.typeName) {
            case (let before?, let after?): "type \(before) is renamed to \(after)"
            case (let before?, nil): "type \(before) loses its title"
            case (nil, let after): "the type without a title is named \(after ?? "")"
            }
        note(.embeddedTypeRenamed, at: spot, from: old, to: new, "\(spot.new): \(summary)")
    }

    private func name(of root: SchemaNode) -> String {
        root.typeName.map { "type \($0)" } ?? (new ?? old).map { "the type of \($0.namespace)" } ?? "a type"
    }
}

/// Compares the unique indexes, which the name of an index does not distinguish.
extension Comparison {
    mutating func compareUniqueKeys(_ old: CollectionSchema, _ new: CollectionSchema) {
        func sides(_ key: UniqueKey, _ schema: CollectionSchema) -> Field {
            let node = schema.root.node(at: key.path) ?? SchemaNode(location: key.location)
            return Field(name: "", node: node, isRequired: false)
        }
        for key in old.uniqueKeys where !new.uniqueKeys.contains(where: key.isSame) {
            note(
                .uniqueRemoved, at: Spot(old: key.path, new: key.path), from: sides(key, old), to: nil as Field?,
                "the unique index of \(key.words) is removed")
        }
        for key in new.uniqueKeys where !old.uniqueKeys.contains(where: key.isSame) {
            note(
                .uniqueAdded, at: Spot(old: key.path, new: key.path), from: nil as Field?, to: sides(key, new),
                "\(key.words) gets a unique index")
            changes[changes.count - 1].place = key.location
            changes[changes.count - 1].uniqueKey = key
        }
    }
}

/// Compares constraints, and the rule for undeclared fields.
extension Comparison {
    /// Records which constraints of a value restrict more than before, and which restrict less.
    private mutating func compareConstraints(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        let change = ConstraintChange(from: old, to: new)
        let subject = spot.new.isRoot ? "the document" : "\(spot.new)"
        if !change.tightened.isEmpty {
            note(
                .constraintTightened, at: spot, from: old, to: new,
                "\(subject): \(change.tightened.joined(separator: ", ")) restricted\(change.lostWords)")
        }
        if !change.loosened.isEmpty {
            note(
                .constraintLoosened, at: spot, from: old, to: new,
                "\(subject): \(change.loosened.joined(separator: ", ")) relaxed")
        }
    }

    /// Compares the undeclared fields that the two versions of an object allow.
    private mutating func compareAdditionalProperties(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        let (before, after) = (old.furtherFields, new.furtherFields)
        guard before != after else { return }
        let subject = spot.new.isRoot ? "the document" : "\(spot.new)"
        note(
            .additionalPropertiesChanged, at: spot, from: old, to: new,
            "\(subject): \(after.words) instead of \(before.words)")
    }
}

/// The undeclared fields that an object may have.
enum FurtherFields: Hashable {
    case any, none
    case only(BSONDocument)

    fileprivate var words: String {
        switch self {
        case .any: "any undeclared fields"
        case .none: "no undeclared fields"
        case .only: "undeclared fields of one schema"
        }
    }
}

extension SchemaNode {
    var furtherFields: FurtherFields {
        switch additionalProperties {
        case .allowed: .any
        case .forbidden: .none
        case .schema(let node): .only(node.jsonSchema)
        }
    }
}

/// Compares the links between collections.
extension Comparison {
    /// Whether an embedded object becomes a link, or a link becomes an embedded object.
    private func isEmbedding(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) -> Bool {
        let (before, after) = (self.old?.link(at: spot.old), self.new?.link(at: spot.new))
        return old.isEmbedded && before == nil && after != nil && !new.isEmbedded
            || new.isEmbedded && after == nil && before != nil && !old.isEmbedded
    }

    /// Compares the links of two versions of a field, an element or a dictionary's value.
    private mutating func compareLinks(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        compareLinks(
            Field(name: "", node: old, isRequired: false), Field(name: "", node: new, isRequired: false), at: spot)
    }

    /// Compares the links of two versions of a field.
    /// - Parameter inside: whether a link of the field's elements or values counts as a link of the field. It counts if
    ///   the field changes from one value to many, or from many to one.
    private mutating func compareLinks(_ old: Field, _ new: Field, at spot: Spot, inside: Bool = false) {
        let before = inside ? self.old?.linkWithin(spot.old) : self.old?.link(at: spot.old)
        let after = inside ? self.new?.linkWithin(spot.new) : self.new?.link(at: spot.new)
        switch (before, after) {
        case (nil, let link?):
            note(.linkAdded, at: spot, from: old, to: new, "\(spot.new) becomes a link to \(link.target)")
        case (let link?, nil):
            note(.linkRemoved, at: spot, from: old, to: new, "\(spot.new) is no longer a link to \(link.target)")
        case (let before?, let after?) where !isSame(before, after):
            note(
                .linkRetargeted, at: spot, from: old, to: new,
                "\(spot.new) links to \(words(after)) instead of \(words(before))")
        default: break
        }
    }

    /// Whether two links lead to the same collection by the same key.
    ///
    /// If the rename map gives a new name to the collection or the key of the older link, the new name is compared.
    private func isSame(_ old: Relationship, _ new: Relationship) -> Bool {
        map.newName(of: old.target) == new.target
            && (old.foreignKey == new.foreignKey
                || map.newName(of: SchemaPath([.field(old.foreignKey)]), in: old.target) == new.foreignKey)
    }

    private func words(_ link: Relationship) -> String {
        link.foreignKey == "_id" ? "\(link.target)" : "\(link.target) by \(link.foreignKey)"
    }
}

extension CollectionSchema {
    /// Returns the link whose keys are at exactly this path; `nil` if there is none.
    ///
    /// The path leads to a field, or to the elements or values of a field.
    func link(at path: SchemaPath) -> Relationship? {
        if let link = link(from: path), keyPath(of: link) == path { return link }
        guard let last = path.steps.last, last == .elements || last == .values else { return nil }
        return link(from: SchemaPath(path.steps.dropLast())).flatMap { keyPath(of: $0) == path ? $0 : nil }
    }

    /// Returns the link whose keys are at the path, or in the elements or values of the field at the path; `nil` if
    /// there is none.
    func linkWithin(_ path: SchemaPath) -> Relationship? {
        link(at: path) ?? link(at: path.appending(.elements)) ?? link(at: path.appending(.values))
    }

    /// Returns the path at which a link's field stores the keys of the linked documents.
    ///
    /// If the field stores many keys, most exports of an app name only the field. The result is then the path of the
    /// field's elements or values.
    func keyPath(of link: Relationship) -> SchemaPath {
        guard link.isList, let node = root.node(at: link.source) else { return link.source }
        if node.isList || node.isSet { return link.source.appending(.elements) }
        return node.isDictionary ? link.source.appending(.values) : link.source
    }
}
