public import ServerSchema

/// A rename that the operator states: two schemas alone cannot tell one from a removal and an addition.
///
/// It is written `OLD=NEW`, where OLD names a thing of the older schema:
/// - a property by its type's title or its collection, `Person.age=yearsSinceBirth`, `app.Person.address.zip=postcode`;
/// - a type by its title, `Person=Human`;
/// - a collection, `app.Person=crm.Person`.
public struct Rename: Hashable, Sendable {
    /// What it is called in the older schema.
    public let old: String
    /// What it is called in the newer schema: of a property the name alone.
    public let new: String
    /// Where a file states it; `nil` for the command line.
    ///
    /// What a file states stays there, so that it may lie in the past of both schemas.
    public let location: SourceLocation?

    /// Reads `OLD=NEW`.
    /// - Throws: ``RenameError`` when one of the two is missing.
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
    /// As it is written.
    public var description: String { "\(old)=\(new)" }
}

/// A stated rename that the two schemas do not bear out.
public struct RenameError: Error, Hashable, Sendable {
    /// The rename as it was written.
    public let rename: String
    /// Where a file states it; `nil` for the command line.
    public let location: SourceLocation?
    /// What is wrong with it, and what would be right.
    public let message: String

    init(_ rename: String, at location: SourceLocation?, _ message: String) {
        (self.rename, self.location, self.message) = (rename, location, message)
    }
}

extension RenameError: CustomStringConvertible {
    /// `file:line:column: rename "a=b": message`.
    public var description: String { (location.map { "\($0): " } ?? "") + "rename \"\(rename)\": \(message)" }
}
