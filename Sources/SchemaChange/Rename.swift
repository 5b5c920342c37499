public import ServerSchema

/// A rename that the operator states, because in two schemas alone it looks like a removal and an addition.
///
/// The rename is written `OLD=NEW`, where OLD names a part of the older schema:
/// - a property by its type's title or its collection, `Person.age=yearsSinceBirth`, `app.Person.address.zip=postcode`;
/// - a type by its title, `Person=Human`;
/// - a collection, `app.Person=crm.Person`.
public struct Rename: Hashable, Sendable {
    /// The name in the older schema.
    public let old: String
    /// The name in the newer schema; for a property only its own name, without its type.
    public let new: String
    /// The position in the file that states the rename; `nil` for the command line.
    ///
    /// A rename may stay in its file after it is done, so a rename with a location may already be done in both schemas.
    public let location: SourceLocation?

    /// Reads `OLD=NEW`.
    /// - Throws: ``RenameError`` when there are not exactly two names, or one of them is empty.
    public init(_ text: String, at location: SourceLocation? = nil) throws(RenameError) {
        let sides = text.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty else {
            throw RenameError(
                text, at: location, "a rename is OLD=NEW, such as Person.age=yearsSinceBirth or app.Person=crm.Person")
        }
        (old, new, self.location) = (String(sides[0]), String(sides[1]), location)
    }

    func error(_ message: String, hint: String? = nil) -> RenameError {
        RenameError(description, at: location, message + (hint.map { " (\($0))" } ?? ""))
    }
}

extension Rename: CustomStringConvertible {
    /// The rename as the operator writes it.
    public var description: String { "\(old)=\(new)" }
}

/// An error for a stated rename that is malformed or does not agree with the two schemas.
public struct RenameError: Error, Hashable, Sendable {
    /// The rename as the operator wrote it.
    public let rename: String
    /// The position in the file that states the rename; `nil` for the command line.
    public let location: SourceLocation?
    /// A message that says what is wrong with the rename, and what would be right.
    public let message: String

    init(_ rename: String, at location: SourceLocation?, _ message: String) {
        (self.rename, self.location, self.message) = (rename, location, message)
    }
}

extension RenameError: CustomStringConvertible {
    /// `file:line:column: rename "a=b": message`.
    public var description: String { (location.map { "\($0): " } ?? "") + "rename \"\(rename)\": \(message)" }
}
