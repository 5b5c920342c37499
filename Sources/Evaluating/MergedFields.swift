import BSON

/// The fields of an object that the server puts together: a name that comes again keeps its first place and takes the last
/// value, and arrays get the keys 0, 1, 2.
struct MergedFields {
    /// By the bytes of the names: Swift takes two spellings of é for one.
    private var places: [[UInt8]: Int] = [:]
    private var fields: [(String, BSONValue)] = []

    /// The object.
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
    /// ``next(_:)``, for an evaluation.
    func nextElement(_ position: inout Int) throws(NotEvaluated) -> BSONElement? {
        do { return try next(&position) } catch { throw NotEvaluated(.damage) }
    }

    /// The name of an element: one that is not UTF-8, each operator takes in a way of its own.
    func text(ofNameOf element: BSONElement) throws(NotEvaluated) -> String {
        let bytes = nameBytes(element)
        guard let text = unsafe bytes.withUnsafeBytes({ unsafe String(validating: $0, as: UTF8.self) }) else {
            throw NotEvaluated(.version)
        }
        return text
    }
}

extension BSONValue {
    /// An array with the keys 0, 1, 2, and so the arrays in it; anything else as it is.
    fileprivate var renumbered: BSONValue {
        guard case .array(let list) = self else { return self }
        return .array(of: list.values.map(\.renumbered))
    }
}
