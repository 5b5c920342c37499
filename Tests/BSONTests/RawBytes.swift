import BSON

/// Returns the bytes of a document with this body.
///
/// Unlike ``BSONBuilder``, the function accepts an invalid body.
/// - Parameter length: the value of the document's length field; `nil` for the real length.
func raw(_ body: [UInt8], length: Int? = nil) -> [UInt8] {
    int32(length ?? body.count + 5) + body + [0]
}

/// Returns the bytes of one element: its type byte, its name and its value.
func element(_ type: UInt8, _ name: String = "x", _ value: [UInt8] = []) -> [UInt8] {
    [type] + Array(name.utf8) + [0] + value
}

/// Returns the number as four bytes, least significant first.
func int32(_ value: Int) -> [UInt8] {
    let bits = UInt32(truncatingIfNeeded: value)
    return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
}

/// Returns the error of reading the elements at the top level of a document; `nil` if there is none.
func walkError(_ bytes: [UInt8]) -> BSONError? {
    errorOf { _ = try BSONDocument(bytes: bytes).elements() }
}

/// Returns the error of validating a document; `nil` if there is none.
func validationError(_ bytes: [UInt8]) -> BSONError? {
    errorOf {
        let document = try BSONDocument(bytes: bytes)
        try document.view.validate()
    }
}

private func errorOf(_ body: () throws -> Void) -> BSONError? {
    do { try body() } catch { return error as? BSONError }
    return nil
}

/// Returns a document with objects nested `levels` deep inside it.
func nested(_ levels: Int) -> BSONDocument {
    (0..<levels).reduce(BSONDocument()) { inner, _ in ["n": .object(inner)] }
}
