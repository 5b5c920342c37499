import Foundation
import SystemPackage
import TestSupport

/// A folder for the schemas, jobs and reports of one test, which the test removes.
struct CommandLineFolder: Sendable {
    let path: FilePath

    init() throws {
        path = FilePath(NSTemporaryDirectory()).appending("shipshape-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: true)
    }

    /// Removes the folder and its contents.
    func remove() { try? FileManager.default.removeItem(atPath: path.string) }

    /// Writes a text to a file, and returns the file's path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try write(Data(text.utf8), to: name)
    }

    /// Writes bytes to a file, and returns the file's path.
    @discardableResult
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        let file = path.appending(name)
        try FileManager.default.createDirectory(
            atPath: file.removingLastComponent().string, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: file.string))
        return file.string
    }

    /// Returns the text of a file, or `nil` if there is none.
    func text(of name: String) -> String? { try? String(contentsOfFile: path.appending(name).string, encoding: .utf8) }

    /// The names of the folder's contents, sorted.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path.string)) ?? []).sorted() }
}

extension CommandLineFolder {
    /// A schema of people, with a required name and an age.
    static let person = """
        {
            "bsonType": "object",
            "required": ["_id", "name"],
            "properties": {
                "_id": { "bsonType": "int" },
                "name": { "bsonType": "string" },
                "age": { "bsonType": "int" },
                "tags": { "bsonType": "array", "items": { "bsonType": "string" } }
            }
        }
        """

    /// Writes a schema file, and returns the arguments of a `check` of the collection `person`.
    func check(
        _ database: TestDatabase, on mongod: Mongod, schema: String = person, appName: String? = nil
    ) throws -> [String] {
        let file = try write(schema, to: "person.json")
        let uri = appName.map { mongod.uri(appName: $0) } ?? mongod.uri
        return ["check", file, "--collection", "\(database.name).person", "--uri", uri, "SHIPSHAPE_LEDGER=none"]
    }
}
