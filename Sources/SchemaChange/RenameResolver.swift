import BSON
import ServerSchema

/// Finds the types, collections and properties that the operator's renames name in two schemas.
struct RenameResolver {
    private let old: ServerSchema
    private let new: ServerSchema
    private var map = RenameMap()

    private init(old: ServerSchema, new: ServerSchema) { (self.old, self.new) = (old, new) }

    /// Finds the renamed parts in two schemas.
    /// - Throws: ``RenameError`` for a rename that is ambiguous, or that does not fit the two schemas.
    static func resolve(
        _ renames: [Rename], from old: ServerSchema, to new: ServerSchema
    ) throws(RenameError) -> RenameMap {
        var resolver = RenameResolver(old: old, new: new)
        var properties: [(Rename, [Place])] = []
        for rename in renames {
            let places = try resolver.takeType(rename) ? [] : try resolver.places(of: rename)
            if !places.isEmpty { properties.append((rename, places)) }
        }
        try resolver.checkCollections(renames)
        for (rename, places) in properties {
            for place in places {
                resolver.map.properties[place.namespace, default: [:]][place.path] = newName(rename)
            }
        }
        for (rename, places) in properties {
            for place in places where !resolver.isElsewhere(rename, place) { try resolver.check(rename, place) }
        }
        for (rename, places) in properties {
            for place in places where resolver.isElsewhere(rename, place) {
                resolver.map.properties[place.namespace]?[place.path] = nil
            }
        }
        return resolver.map
    }

    private struct Place {
        let namespace: Namespace
        let path: SchemaPath
    }
}

// MARK: Types and collections

extension RenameResolver {
    /// Applies the rename of a type or a collection.
    ///
    /// Does nothing if the rename is in a file and was made before the older schema was written.
    /// - Returns: `false` if the rename names a property instead.
    private mutating func takeType(_ rename: Rename) throws(RenameError) -> Bool {
        if let from = Namespace(rename.old), old[from] != nil, let target = Namespace(rename.new) {
            guard new[target] != nil else {
                if isPast(rename, old[target] != nil) { return true }
                throw rename.error(
                    "the newer schema has no collection \(target)",
                    hint: Spelling.hint(for: rename.new, among: new.collections.map { "\($0.namespace)" }))
            }
            try move(from, to: target, rename)
            return true
        }
        if let target = Namespace(rename.new), isPast(rename, old[target] != nil && new[target] != nil) { return true }
        guard old.hasType(rename.old) else {
            return isPast(rename, old.hasType(rename.new) && new.hasType(rename.new))
        }
        guard new.hasType(rename.new) else {
            throw rename.error(
                "the newer schema has no type \"\(rename.new)\"",
                hint: Spelling.hint(for: rename.new, among: new.typeNames))
        }
        let before = old.collections.filter { $0.root.typeName == rename.old }
        let after = new.collections.filter { $0.root.typeName == rename.new }
        guard before.count <= 1, after.count <= 1 else {
            throw rename.error("several collections have a type of that name: name the collections instead")
        }
        if let from = before.first?.namespace, let target = after.first?.namespace, from != target {
            try move(from, to: target, rename)
        }
        return true
    }

    private mutating func move(_ from: Namespace, to target: Namespace, _ rename: Rename) throws(RenameError) {
        if let other = map.collections[from], other != target {
            throw rename.error("another rename already moves \(from) to \(other)")
        }
        map.collections[from] = target
    }

    /// Throws an error if two collections of the older schema would become one.
    private func checkCollections(_ renames: [Rename]) throws(RenameError) {
        for (from, target) in map.collections {
            let others = old.collections.map(\.namespace).filter { $0 != from && map.newName(of: $0) == target }
            guard let other = others.first else { continue }
            let rename = renames.first { $0.old == "\(from)" || $0.old == old[from]?.root.typeName }
            let message = "the older schema also has \(other), and both would become the same collection"
            throw rename?.error(message) ?? RenameError("\(from)=\(target)", at: nil, message)
        }
    }

    /// Whether a file states the rename, and the rename was made before the older schema was written.
    private func isPast(_ rename: Rename, _ isDone: Bool) -> Bool { rename.location != nil && isDone }
}

// MARK: Properties

extension RenameResolver {
    /// Returns the fields of the older schema that a rename names.
    ///
    /// The result is empty if the rename is in a file and the older schema has only the new name, because the rename
    /// was then made earlier.
    private func places(of rename: Rename) throws(RenameError) -> [Place] {
        let owners = owners(of: rename.old)
        guard let first = owners.first else {
            let known = old.typeNames + old.collections.map { "\($0.namespace)" }
            let name = RenamePath.names(rename.old)?.first ?? rename.old
            throw rename.error(
                "the older schema has no such type or collection",
                hint: Spelling.hint(for: name, among: known) ?? Spelling.hint(for: rename.old, among: known))
        }
        guard RenamePath.names(rename.new)?.count == 1 else {
            throw rename.error("write only the property's new name on the right: a property stays in its object")
        }
        var places: [Place] = []
        for owner in owners where owner.isSame(as: first) {
            switch RenamePath.resolve(owner.names, below: owner.node) {
            case .found(let path):
                places.append(Place(namespace: owner.namespace, path: owner.path.appending(path.steps)))
            case .missing(let name, let parent, let known):
                if isPast(rename, name == owner.names.last && known.contains(Self.newName(rename))) { return [] }
                let holder = parent.isRoot ? owner.name : "\(owner.name).\(parent)"
                throw rename.error(
                    "\(holder) has no property \"\(name)\" in the older schema",
                    hint: Spelling.hint(for: name, among: known))
            }
        }
        return places
    }

    /// Whether a file states the rename, and the two schemas are not those in which it happens.
    ///
    /// The newer one still has the old field, or the older one already has the new field beside it. A rename may take
    /// several deploys, and these schemas are compared as they are.
    private func isElsewhere(_ rename: Rename, _ place: Place) -> Bool {
        let parent = SchemaPath(Array(place.path.steps.dropLast()))
        guard rename.location != nil, case .field(let name)? = place.path.steps.last,
            let before = old[place.namespace]?.root.node(at: parent),
            let after = new[map.newName(of: place.namespace)]?.root.node(
                at: map.newPath(of: parent, in: place.namespace))
        else { return false }
        let siblings = map.properties[place.namespace] ?? [:]
        let next = Self.newName(rename)
        let isSwapped = siblings.values.contains(name) || siblings[parent.appending(.field(next))] != nil
        let hasBoth = before.property(next) != nil && after.property(next) != nil
        return !isSwapped && (after.property(name) != nil || hasBoth)
    }

    private static func newName(_ rename: Rename) -> String { RenamePath.names(rename.new)?.first ?? rename.new }

    private func check(_ rename: Rename, _ place: Place) throws(RenameError) {
        let name = Self.newName(rename)
        let parent = SchemaPath(Array(place.path.steps.dropLast()))
        guard case .field(let oldName)? = place.path.steps.last,
            let before = old[place.namespace]?.root.node(at: parent)
        else { return }
        guard place.path.steps != [.field("_id")], !parent.isRoot || name != "_id" else {
            throw rename.error("the primary key is always named _id")
        }
        let namespace = map.newName(of: place.namespace)
        guard let after = new[namespace]?.root.node(at: map.newPath(of: parent, in: place.namespace)) else {
            throw rename.error("the newer schema has nothing at \(parent) of \(namespace)")
        }
        guard after.property(name) != nil else {
            let added = after.properties.map(\.name).filter { before.property($0) == nil }
            throw rename.error(
                "the newer schema has no property \"\(name)\" there", hint: Spelling.hint(for: name, among: added))
        }
        let siblings = map.properties[place.namespace] ?? [:]
        let takesPlace = { (other: String) in siblings[parent.appending(.field(other))] != nil }
        if before.property(name) != nil, !takesPlace(name) {
            throw rename.error("the older schema also has \"\(name)\": it is not a new name")
        }
        if after.property(oldName) != nil, !siblings.values.contains(oldName) {
            throw rename.error("the newer schema still has \"\(oldName)\": this is an addition, not a rename")
        }
    }

    /// Returns the types whose name may be the beginning of a property's old name, such as `Person` in `Person.age`.
    ///
    /// Types that are named by their collection come first, then types that are named by their title, the least nested
    /// first.
    private func owners(of text: String) -> [RenameOwner] {
        guard let names = RenamePath.names(text), names.count > 1 else { return [] }
        var owners: [RenameOwner] = []
        for collection in old.collections {
            let prefix = "\(collection.namespace)."
            guard text.hasPrefix(prefix), let names = RenamePath.names(String(text.dropFirst(prefix.count))) else {
                continue
            }
            owners.append(
                RenameOwner(
                    name: "\(collection.namespace)", namespace: collection.namespace, path: SchemaPath(),
                    node: collection.root, names: names))
        }
        let rest = Array(names.dropFirst())
        let types = old.collections.flatMap(\.types).filter { $0.node.typeName == names[0] }
        return owners
            + types.sorted { $0.path.steps.count < $1.path.steps.count }.map {
                RenameOwner(name: names[0], namespace: $0.namespace, path: $0.path, node: $0.node, names: rest)
            }
    }
}
