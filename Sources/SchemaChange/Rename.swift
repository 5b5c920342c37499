public import ServerSchema

/// A rename that the operator states.
///
/// Without the statement, most renames look like a removal and an addition.
///
/// The rename is written `OLD=NEW`, where OLD names a part of the older schema:
/// - a property by its type's title or its collection, `Person.age=yearsSinceBirth`, `app.Person.address.zip=postcode`;
/// - a type by its title, `Person=Human`;
/// - a collection, `app.Person=crm.Person`.
public struct Rename: Hashable, Sendable {
    /// The name in the older schema.
    public let old: String
    /// The name in the newer schema; for a property, its name without the type.
    public let new: String
    /// The position in the file that states the rename; `nil` if the command line states it.
    ///
    /// If both schemas already have the new name, or if the newer one still has the old name, a rename in a file is
    /// ignored: the file may keep renames of earlier deploys, and a rename may take several. On the command line, it is
    /// then an error.
    public let location: SourceLocation?

    /// Reads `OLD=NEW`.
    /// - Throws: ``RenameError`` if the text does not have exactly two names, or if a name is empty.
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

/// An error in a stated rename: the rename is malformed, or does not fit the two schemas.
public struct RenameError: Error, Hashable, Sendable {
    /// The rename as the operator wrote it.
    public let rename: String
    /// The position in the file that states the rename; `nil` if the command line states it.
    public let location: SourceLocation?
    /// A message that says what is wrong with the rename, and how to correct it.
    public let message: String

    init(_ rename: String, at location: SourceLocation?, _ message: String) {
        (self.rename, self.location, self.message) = (rename, location, message)
    }
}

extension RenameError: CustomStringConvertible {
    /// The error as text: `file:line:column: rename "a=b": message`.
    public var description: String { (location.map { "\($0): " } ?? "") + "rename \"\(rename)\": \(message)" }
}
