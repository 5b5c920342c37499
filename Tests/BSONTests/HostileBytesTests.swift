import BSON
import Testing

/// Tests that reading any bytes as a document gives either all values or an error.
///
/// Reading never traps, and never reads a byte outside of the document. `scripts/test-sanitized address` runs these
/// tests under AddressSanitizer.
///
/// The tests use a thousand documents. Each document is cut off at every byte; each cut document is read with its old
/// length field, and with one that matches the cut. In each whole document, every byte is changed to up to four other
/// values. The documents are in eight parts, so that the processor cores share the work.
@Suite struct HostileBytesTests {
    static let documents = 1000
    static let slices = 8

    @Test(arguments: 0..<slices) func everyTruncationIsAnErrorOrAWholeDocument(_ slice: Int) {
        var outcome = Outcome()
        for document in Self.documents(slice) {
            for count in 0..<document.bytes.count {
                var prefix = Array(document.bytes.prefix(count))
                outcome.expectError(ExactBuffer(prefix))
                guard count >= 4 else { continue }
                prefix.replaceSubrange(0..<4, with: int32(count))
                outcome.read(ExactBuffer(prefix))
            }
        }
        #expect(outcome.accepted == 0, "a prefix of a document never passed for one")
        #expect(outcome.refused > 0)
    }

    @Test(arguments: 0..<slices) func everyChangedByteIsAnErrorOrAWholeDocument(_ slice: Int) {
        var outcome = Outcome()
        for document in Self.documents(slice) {
            let buffer = ExactBuffer(document.bytes)
            for (offset, byte) in document.bytes.enumerated() {
                for changed in [byte ^ 0xFF, byte ^ 0x01, byte ^ 0x80, 0] where changed != byte {
                    buffer.with(changed, at: offset) { outcome.read(buffer) }
                }
            }
        }
        #expect(outcome.refused > 0 && outcome.accepted > 0, "\(outcome)")
    }

    @Test(arguments: 0..<slices) func everyDocumentItselfIsRead(_ slice: Int) throws {
        var outcome = Outcome()
        for document in Self.documents(slice) {
            try document.view.validate()
            outcome.read(ExactBuffer(document.bytes))
            guard let json = try? document.extendedJSON(), let again = try? BSONDocument(extendedJSON: json) else {
                continue
            }
            // libbson reads JavaScript code with a scope as an ordinary object from extended JSON, so documents with
            // such code are not compared.
            guard !json.contains("$scope") else { continue }
            // The document that was read from the extended JSON is compared in MongoDB's order, and not by its bytes:
            // numbers with different bits, such as two encodings of a decimal zero, can have the same text.
            #expect(BSONOrder.compare(.object(again), .object(document)) == .equal)
        }
        #expect(outcome.refused == 0)
    }

    static func documents(_ slice: Int) -> [BSONDocument] {
        var generator = DocumentGenerator(seed: UInt64(slice))
        return (0..<documents / slices).map { _ in generator.smallDocument() }
    }
}

/// The numbers of inputs that were accepted and refused when they were read as documents.
private struct Outcome {
    var accepted = 0
    var refused = 0

    /// Reads the bytes as a document, with all its values.
    mutating func read(_ buffer: ExactBuffer) {
        do {
            let view = try BSONView(buffer.span)
            // The values are read even after a failed validation, because reading must be safe without it.
            let isValid = (try? view.validate()) != nil
            _ = view.compare(to: view)
            if isValid { _ = try? view.extendedJSON(.relaxed) }
            try readElements(view)
            if isValid { accepted += 1 } else { refused += 1 }
        } catch {
            refused += 1
        }
    }

    /// Expects an error for bytes whose length field states another number of bytes.
    mutating func expectError(_ buffer: ExactBuffer) {
        do {
            _ = try BSONView(buffer.span)
            Issue.record("a length field that is wrong was accepted")
        } catch {
            refused += 1
        }
    }

    private func readElements(_ view: borrowing BSONView) throws(BSONError) {
        var position = view.firstPosition
        while let element = try view.next(&position) {
            _ = view.nameBytes(element).byteCount
            _ = view.valueBytes(element).byteCount
            _ = view.compare(element, to: element, of: view)
            _ = try view.value(element)
            switch element.type {
            case .object, .array: try readElements(view.document(element))
            case .javascriptWithScope: try readElements(view.scope(element))
            default: break
            }
        }
    }
}
