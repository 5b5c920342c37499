package import BSON

/// The paths at which two objects differ, found by descending through objects that both of them have.
struct ChangedPaths {
    /// The paths, each with the digest of its value in the second object.
    private(set) var all: [(path: [String], after: JournalDigest)] = []

    /// The deepest object that is compared by its fields.
    private static let maximumDepth = 50

    /// Compares two objects; `nil` if paths cannot describe the difference, for example because only the order of the
    /// fields differs, or because a name is used twice.
    /// - Parameter name: the name of the field that has the objects, with which each path begins.
    init?(_ before: borrowing BSONView, _ after: borrowing BSONView, in name: String) throws(BSONError) {
        guard try compare(before, after, at: [name]), !all.isEmpty else { return nil }
    }

    private mutating func compare(
        _ before: borrowing BSONView, _ after: borrowing BSONView, at path: [String]
    ) throws(BSONError) -> Bool {
        guard path.count < Self.maximumDepth, let old = try Self.fields(of: before),
            let new = try Self.fields(of: after)
        else { return false }
        // A write keeps the order of the fields that stay; otherwise, the old order could not be restored at paths.
        let kept = old.order.filter { new.elements[$0] != nil }
        guard kept == new.order.filter({ old.elements[$0] != nil }) else { return false }
        for name in old.order + new.order.filter({ old.elements[$0] == nil }) {
            let (was, willBe) = (old.elements[name], new.elements[name])
            guard ChunkJournal.differs(was, of: before, willBe, of: after) else { continue }
            if let was, let willBe, was.type == .object, willBe.type == .object {
                guard try compare(before.document(was), after.document(willBe), at: path + [name]) else {
                    return false
                }
            } else {
                all.append((path + [name], JournalDigest(of: willBe, in: after)))
            }
        }
        return true
    }

    private static func fields(
        of document: borrowing BSONView
    ) throws(BSONError) -> (order: [String], elements: [String: BSONElement])? {
        var (order, elements): ([String], [String: BSONElement]) = ([], [:])
        var position = document.firstPosition
        while let element = try document.next(&position) {
            let name = document.name(element)
            guard document.nameBytes(element).isEqual(to: name),
                elements.updateValue(element, forKey: name) == nil
            else { return nil }
            order.append(name)
        }
        return (order, elements)
    }
}

extension BSONDocument {
    /// Returns the object `now` with the values of the object `before` at the given paths.
    ///
    /// A path that `before` lacks is removed. A value that `now` lacks is added at the end of its object.
    package static func joining(
        _ now: borrowing BSONView, _ before: borrowing BSONView, at paths: [ArraySlice<String>]
    ) throws(BSONError) -> BSONDocument {
        var inner: [String: [ArraySlice<String>]] = [:]
        for path in paths { if let name = path.first { inner[name, default: []].append(path.dropFirst()) } }
        var builder = BSONBuilder()
        var position = now.firstPosition
        while let element = try now.next(&position) {
            let name = now.name(element)
            guard let rest = inner.removeValue(forKey: name) else {
                builder.append(element, of: now)
                continue
            }
            guard let old = try before.find(name) else { continue }
            if rest.contains(where: \.isEmpty) || element.type != .object || old.type != .object {
                builder.append(old, of: before)
            } else {
                builder.append(
                    name, .object(try joining(now.document(element), before.document(old), at: rest)))
            }
        }
        position = before.firstPosition
        while let old = try before.next(&position) {
            if inner[before.name(old)] != nil { builder.append(old, of: before) }
        }
        return builder.finish()
    }
}
