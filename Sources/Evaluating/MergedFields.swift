import BSON

/// The fields of an object that the server builds: a repeated name keeps its first place and takes the last value, and
/// arrays get the keys 0, 1, 2.
struct MergedFields {
    /// The place of each field, by the bytes of its name, because Swift considers two spellings of é equal.
    private var places: [[UInt8]: Int] = [:]
    private var fields: [(String, BSONValue)] = []

    /// The resulting object.
    var document: BSONDocument { BSONDocument(fields) }

    /// Sets a field.
    mutating func set(_ name: String, to value: BSONValue) {
        let key = Array(name.utf8)
        if let place = places[key] {
            fields[place].1 = value.renumbered
        } else {
            places[key] = fields.count
            fields.append((name, value.renumbered))
        }
    }

    /// Sets each field of an object.
    mutating func add(_ object: borrowing BSONView) throws(NotEvaluated) {
        var position = object.firstPosition
        while let element = try object.nextElement(&position) {
            let name = try object.text(ofNameOf: element)
            do { set(name, to: try object.value(element)) } catch { throw NotEvaluated(.damage) }
        }
    }
}

extension BSONView {
    /// Returns the next element like ``next(_:)``, with the errors of an evaluation.
    func nextElement(_ position: inout Int) throws(NotEvaluated) -> BSONElement? {
        do { return try next(&position) } catch { throw NotEvaluated(.damage) }
    }

    /// Returns the name of an element; throws if it is not UTF-8, because operators treat such names differently.
    func text(ofNameOf element: BSONElement) throws(NotEvaluated) -> String {
        let bytes = nameBytes(element)
        guard let text = unsafe bytes.withUnsafeBytes({ unsafe String(validating: $0, as: UTF8.self) }) else {
            throw NotEvaluated(.version)
        }
        return text
    }
}

extension BSONValue {
    /// An array, and all arrays in it, with the keys 0, 1, 2; any other value unchanged.
    fileprivate var renumbered: BSONValue {
        guard case .array(let list) = self else { return self }
        return .array(of: list.values.map(\.renumbered))
    }
}
