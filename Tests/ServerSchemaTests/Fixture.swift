import BSON
import ServerSchema
import SystemPackage

/// The folders of example exports next to this file.
enum Fixture {
    static let folder = FilePath(#filePath).removingLastComponent().appending("Fixtures").string

    static func read(_ name: String, namespace: Namespace? = nil) throws(SchemaError) -> ServerSchema {
        try ServerSchema.read(at: "\(folder)/\(name)", namespace: namespace)
    }

    /// Returns the text of the error that reading a fixture throws, with paths relative to the folder of all fixtures;
    /// `nil` if it throws none.
    static func failure(_ name: String, namespace: Namespace? = nil) -> String? {
        do throws(SchemaError) {
            _ = try read(name, namespace: namespace)
            return nil
        } catch {
            return below(error.description)
        }
    }

    static func below(_ text: String) -> String {
        text.split(separator: "\(folder)/", omittingEmptySubsequences: false).joined()
    }
}

let pets = Namespace(database: "shop", collection: "Pet")
