/// A source of documents that cannot be used as it was named; a damaged one is a `DumpError`.
package struct SourceError: Error, CustomStringConvertible {
    /// What is wrong, where, and how to mend it.
    package let description: String

    init(_ description: String) { self.description = description }

    /// What nobody can read, with the kinds that can be.
    static func unknownKind(_ name: String) -> SourceError {
        SourceError(
            "\(name) begins neither as BSON nor as extended JSON: give a mongodump folder, a .bson file, a mongodump "
                + "archive, or a mongoexport file of JSON (not CSV), each plain or compressed with gzip")
    }
}
