internal import BSON
public import ServerSchema

/// Finds the changes between two versions of a server schema.
///
/// A rename of a property, a type or a collection is recognized if the operator states it, or if two Prisma schemas
/// show it by `@map` or `@@map`. Any other rename looks like a removal and an addition.
public enum SchemaDiff {
    /// Returns the changes of one collection's schema, object by object.
    ///
    /// For each object, removals come first, in the order of `old`, then additions and changes, in the order of `new`.
    public static func changes(from old: CollectionSchema, to new: CollectionSchema) -> [SchemaChange] {
        var map = RenameMap()
        if old.dialect == .prisma, new.dialect == .prisma { map.addMappings(from: old, to: new) }
        return changes(from: old, to: new, map)
    }

    /// Returns the changes of the whole app, followed by the changes of all collections, sorted by namespace.
    public static func changes(from old: ServerSchema, to new: ServerSchema) -> [SchemaChange] {
        changes(from: old, to: new, RenameMap())
    }

    /// Returns the changes of the app and of all collections; renames that the operator states are recognized.
    /// - Parameter isVersioned: whether the app has versioned schemas, with which old clients continue to work after
    ///   some changes.
    /// - Throws: ``RenameError`` for a rename that is ambiguous, or that does not fit the two schemas.
    public static func changes(
        from old: ServerSchema, to new: ServerSchema, renames: [Rename], isVersioned: Bool = false
    ) throws(RenameError) -> [SchemaChange] {
        let changes = changes(from: old, to: new, try RenameResolver.resolve(renames, from: old, to: new))
        return isVersioned ? changes.map { $0.with($0.kind.versioned) } : changes
    }

    private static func changes(from old: ServerSchema, to new: ServerSchema, _ stated: RenameMap) -> [SchemaChange] {
        var map = stated
        if old.dialect == .prisma, new.dialect == .prisma { map.addMappings(from: old, to: new) }
        let before = Dictionary(old.collections.map { (map.newName(of: $0.namespace), $0) }) { first, _ in first }
        let namespaces = Set(before.keys).union(new.collections.map(\.namespace)).sorted()
        let app = SyncComparison(from: old, to: new, renames: map)
        return app.ofApp
            + namespaces.flatMap { namespace in
                let (earlier, later) = (before[namespace], new[namespace])
                let all = changes(from: earlier, to: later, map) + app.ofCollection(from: earlier, to: later)
                let syncs = earlier.map(old.mayJudge) == true || later.map(new.mayJudge) == true
                if new.isOfClient { return all.map { $0.with($0.kind.ofClient) } }
                return syncs ? all : all.map { $0.with($0.kind.outsideSync) }
            }
    }

    private static func changes(
        from old: CollectionSchema?, to new: CollectionSchema?, _ map: RenameMap
    ) -> [SchemaChange] {
        var comparison = Comparison(from: old, to: new, renames: map)
        switch (old, new) {
        case (let old?, let new?):
            if map.collections[old.namespace] == new.namespace {
                comparison.note(
                    .collectionMoved, from: old.root, to: new.root, "\(old.namespace) is moved to \(new.namespace)")
            }
            comparison.compareRoots(old.root, new.root)
            comparison.compareUniqueKeys(old, new)
        case (let old?, nil): comparison.remove(type: old.root)
        case (nil, let new?): comparison.add(type: new.root)
        case (nil, nil): break
        }
        for index in comparison.changes.indices {
            let change = comparison.changes[index]
            if [.uniqueAdded, .uniqueRemoved].contains(change.code) { continue }
            switch (new ?? old)?.dialect {
            case .appServices?, nil: return comparison.changes
            case .jsonSchema?:
                let refusesMore = ValidatorVerdict.refusesMore(change)
                comparison.changes[index].kind = change.kind.ofValidator(refusesMore: refusesMore)
            case .prisma?: comparison.changes[index].kind = PrismaVerdict.kind(of: change)
            }
        }
        return comparison.changes
    }
}

extension SchemaChange {
    fileprivate func with(_ kind: ChangeKind) -> SchemaChange {
        var change = self
        change.kind = kind
        return change
    }
}

extension ServerSchema {
    /// Whether changes of a collection's schema get their usual verdicts, and not the verdict on changes outside of
    /// sync.
    ///
    /// In a dialect of a sync engine, the result is `true` if the collection syncs and its schema has a title and an
    /// `_id`. In other dialects, it is `true` for every collection, because the verdicts on changes already take the
    /// dialect into account.
    fileprivate func mayJudge(_ collection: CollectionSchema) -> Bool {
        if !collection.dialect.isOfSync { return true }
        return scope(of: collection) != .outside && collection.root.typeName != nil
            && collection.root.property("_id") != nil
    }
}
