import BSON
import ServerSchema

extension Walker {
    /// The levels of arrays and objects that a mixed value may have.
    static var maximumMixedDepth: Int { 100 }

    /// Judges a value of a `mixed` field, or one inside it.
    /// - Parameter level: The mixed arrays and objects around the value.
    func mixed<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, level: Int, into sink: inout Sink
    ) throws(BSONError) {
        sink.look(at: element, of: view)
        let type = TypeMask(element.type)
        let found = Found(element.type)
        if type == .null || TypeMask.mixedScalars.contains(type) { return }
        if type == .binData { return mixedBinary(element, of: view, node: index, into: &sink) }
        if TypeMask.deprecated.contains(type) {
            return sink.report(Finding(.undefinedValue, .certain, node: index, found))
        }
        guard type == .object || type == .array else {
            return sink.report(Finding(.mixedType, .possible, node: index, found))
        }
        let content = try view.document(element)
        if type == .object, try isLink(content) { return try reference(content, node: index, into: &sink) }
        guard allowsMixedCollections else {
            return sink.report(Finding(.mixedCollection, .certain, node: index, found))
        }
        guard level < Self.maximumMixedDepth else {
            return sink.report(Finding(.mixedDepth, .certain, node: index, Found(BSONType(rawValue: 4), .tooDeep)))
        }
        try mixedContent(content, isObject: type == .object, node: index, level: level + 1, into: &sink)
    }

    private func mixedContent<Sink: FindingSink>(
        _ view: borrowing BSONView, isObject: Bool, node index: Int, level: Int, into sink: inout Sink
    ) throws(BSONError) {
        var position = view.firstPosition
        while let element = try view.next(&position) {
            if isObject { key(element, of: view, node: index, into: &sink) }
            sink.enter(isObject ? .values : .elements)
            try mixed(element, of: view, node: index, level: level, into: &sink)
            sink.leave()
        }
    }

    private func mixedBinary<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) {
        let subtype = view.binarySubtype(element)
        let detail: Found.Detail = view.binaryLength(element) == 16 ? .sixteenBytes : .otherLength
        if subtype == 0 || subtype == 4 && detail == .sixteenBytes { return }
        sink.report(Finding(.mixedType, .possible, node: index, Found(element.type, detail, subtype: subtype)))
    }

    /// Whether an object is a link: a DBRef.
    private func isLink(_ view: borrowing BSONView) throws(BSONError) -> Bool {
        var position = view.firstPosition
        guard let collection = try view.next(&position), TypeMask(collection.type) == .string,
            view.nameBytes(collection).isEqual(to: "$ref"), let id = try view.next(&position)
        else { return false }
        return view.nameBytes(id).isEqual(to: "$id")
    }
}
