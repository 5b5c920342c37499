import BSON
import ServerSchema

extension Walker {
    /// Judges a field that `properties` does not name: a dictionary's entry, or something that the schema ignores.
    func extra<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, depth: Int, into sink: inout Sink
    ) throws(BSONError) {
        let node = nodes[index]
        let found = Found(element.type)
        if node.flags.contains(.dictionary) {
            key(element, of: view, node: index, into: &sink)
            return try value(element, of: view, node: Int(node.additional), depth: depth, into: &sink)
        }
        try pass(element, of: view, depth: depth, into: &sink)
        if node.place == .root, isReserved(element, of: view) {
            return sink.report(Finding(.reservedField, .warning, node: index, found), extra: element, of: view)
        }
        if node.flags.contains(.ignoresExtras) { return }
        if node.flags.contains(.closed) {
            return sink.report(Finding(.additionalProperty, .possible, node: index, found), extra: element, of: view)
        }
        if node.additional >= 0 {
            var probe = VerdictSink()
            try value(element, of: view, node: Int(node.additional), depth: depth, into: &probe)
            if probe.verdict >= .possible {
                let finding = Finding(.additionalProperty, .possible, node: index, found)
                return sink.report(finding, extra: element, of: view)
            }
        }
        sink.report(Finding(.extraField, .info, node: index, found), extra: element, of: view)
    }

    /// Judges a dictionary's key.
    func key<Sink: FindingSink>(
        _ element: BSONElement, of view: borrowing BSONView, node index: Int, into sink: inout Sink
    ) {
        let name = view.nameBytes(element)
        let detail: Found.Detail
        if name.isEmpty {
            detail = .emptyKey
        } else if unsafe name.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == UInt8(ascii: "$") {
            detail = .dollarKey
        } else if name.contains(UInt8(ascii: ".")) {
            detail = .dottedKey
        } else {
            return
        }
        // Whatever stands under the key: all such keys are one group.
        sink.report(Finding(.dictionaryKey, .possible, node: index, Found(BSONType(rawValue: 3), detail)))
    }

    /// Whether the field is one by which the sync engine locks a document.
    private func isReserved(_ element: BSONElement, of view: borrowing BSONView) -> Bool {
        guard element.nameLength >= 21 else { return false }
        let name = view.nameBytes(element)
        return name.isEqual(to: "_id__baas_transaction") || name.isEqual(to: "_id_realm_transaction")
    }
}

extension RawSpan {
    /// Whether one of the bytes is `byte`.
    func contains(_ byte: UInt8) -> Bool {
        for index in 0..<byteCount where unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self) == byte {
            return true
        }
        return false
    }
}
