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

extension BSONView {
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
