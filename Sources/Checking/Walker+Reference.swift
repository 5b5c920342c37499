import BSON

extension Walker {
    /// Judges a link in a mixed value: an object that begins with `$ref` and `$id`, and may go on with `$db`.
    ///
    /// Where the app's other collections are not known, nothing is said of it.
    func reference<Sink: FindingSink>(
        _ view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) throws(BSONError) {
        var position = view.firstPosition
        guard knowsReferences, let collection = try view.next(&position), let id = try view.next(&position) else {
            return
        }
        guard let target = target(collection, in: try database(view, after: position), of: view) else {
            let found = Found(BSONType(rawValue: 3), .unsyncedReference)
            return sink.report(Finding(.mixedDBRef, .possible, node: index, found))
        }
        if !fits(id, of: view, references[target]) {
            sink.report(Finding(.mixedDBRef, .possible, node: index, Found(id.type, .referenceIDType)))
        }
    }

    private func database(_ view: borrowing BSONView, after end: Int) throws(BSONError) -> FieldKey? {
        var position = end
        guard let element = try view.next(&position), TypeMask(element.type) == .string,
            view.nameBytes(element).isEqual(to: "$db")
        else { return nil }
        return key(element, of: view)
    }

    private func target(_ collection: BSONElement, in database: FieldKey?, of view: borrowing BSONView) -> Int? {
        let key = key(collection, of: view)
        for index in references.indices {
            let reference = references[index]
            guard key.matches(reference.collection, in: view.bytes, names: lookup.names) else { continue }
            if let database {
                if database.matches(reference.database, in: view.bytes, names: lookup.names) { return index }
            } else if reference.isNear {
                return index
            }
        }
        return nil
    }

    /// The text of a string, as a name.
    private func key(_ text: BSONElement, of view: borrowing BSONView) -> FieldKey {
        FieldKey(view.bytes, at: text.valueOffset + 4, length: text.valueLength - 5)
    }

    private func fits(_ id: BSONElement, of view: borrowing BSONView, _ target: CompiledSchema.Reference) -> Bool {
        let type = TypeMask(id.type)
        guard type == .binData else { return target.idTypes.contains(type) }
        return target.hasUUIDs && view.binarySubtype(id) == 4 && view.binaryLength(id) == 16
    }
}
