import BSON

/// The fields of an object that is built in the same way as the server builds one, for instance in `$mergeObjects`.
///
/// If a name is repeated, the field keeps its first position and takes the last value. If a value is an array, its keys
/// become 0, 1, 2 and so on.
struct MergedFields {
    /// The index of each field in ``fields``, by the UTF-8 bytes of its name.
    ///
    /// The key is not a `String`, because Swift considers names equal whose bytes differ, such as the two spellings of
    /// é.
    private var places: [[UInt8]: Int] = [:]
    private var fields: [(String, BSONValue)] = []

    /// The object that consists of the fields set so far.
    var document: BSONDocument { BSONDocument(fields) }

    /// Sets a field; an existing field keeps its position.
    mutating func set(_ name: String, to value: BSONValue) {
        let key = Array(name.utf8)
        if let place = places[key] {
            fields[place].1 = value.renumbered
        } else {
            places[key] = fields.count
            fields.append((name, value.renumbered))
        }
    }

    /// Adds the fields of `object`; a field that is already set gets the value that it has in `object`.
    mutating func add(_ object: borrowing BSONView) throws(NotEvaluated) {
        var position = object.firstPosition
        while let element = try object.nextElement(&position) {
            let name = try object.text(ofNameOf: element)
            do { set(name, to: try object.value(element)) } catch { throw NotEvaluated(.damage) }
        }
    }
}

extension MergedFields {
    /// The largest number of bytes of an object whose names are compared with those of the other object one by one.
    private static let small = 1_024

    /// Returns the fields of an object that was merged before, with the fields of `object`.
    ///
    /// The function copies the bytes of both objects if merging does not change `object`, and if one of the two is so
    /// small that a comparison of each pair of names costs little.
    /// - Parameter earlier: the object that was merged before; `nil` if `object` is the first one.
    static func merged(
        _ earlier: BSONDocument?, with object: borrowing BSONView
    ) throws(NotEvaluated) -> BSONDocument {
        let isSmall = earlier.map { min($0.bytes.count, object.byteCount) <= small } ?? true
        guard isSmall, try !object.mayChangeByMerging() else {
            var fields = MergedFields()
            if let earlier { try fields.add(earlier.view) }
            try fields.add(object)
            return fields.document
        }
        guard let earlier else { return BSONDocument(copying: object) }
        var builder = BSONBuilder(capacity: earlier.bytes.count + object.byteCount)
        let view = earlier.view
        var position = view.firstPosition
        while let field = try view.nextElement(&position) {
            if let later = try object.element(namedAs: field, of: view) {
                builder.append(later, of: object)
            } else {
                builder.append(field, of: view)
            }
        }
        position = object.firstPosition
        while let field = try object.nextElement(&position) {
            if try view.element(namedAs: field, of: object) == nil { builder.append(field, of: object) }
        }
        return builder.finish()
    }
}

extension BSONView {
    /// Returns the first element with the name of another document's element; `nil` if there is none.
    fileprivate func element(
        namedAs other: BSONElement, of view: borrowing BSONView
    ) throws(NotEvaluated) -> BSONElement? {
        var position = firstPosition
        while let element = try nextElement(&position) {
            if nameBytes(element).isEqual(to: view.nameBytes(other)) { return element }
        }
        return nil
    }

    /// Returns the next element like ``next(_:)``, but throws ``NotEvaluated`` if the document is damaged.
    func nextElement(_ position: inout Int) throws(NotEvaluated) -> BSONElement? {
        do { return try next(&position) } catch { throw NotEvaluated(.damage) }
    }

    /// Returns the name of an element; throws if its bytes are not UTF-8, because not all operators of the server treat
    /// such a name in the same way.
    func text(ofNameOf element: BSONElement) throws(NotEvaluated) -> String {
        let bytes = nameBytes(element)
        guard let text = unsafe bytes.withUnsafeBytes({ unsafe String(validating: $0, as: UTF8.self) }) else {
            throw NotEvaluated(.version)
        }
        return text
    }
}

extension BSONValue {
    /// The value, with the keys of an array renumbered as 0, 1, 2 and so on.
    ///
    /// Arrays inside the array are renumbered as well, but not arrays inside an object. Any other value is unchanged.
    fileprivate var renumbered: BSONValue {
        guard case .array(let list) = self else { return self }
        return .array(of: list.values.map(\.renumbered))
    }
}
