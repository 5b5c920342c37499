import Foundation
import ServerSchema

/// A temporary folder with the files of an app; it is removed when the object is released.
final class AppFolder {
    let path: String

    /// Creates the folder.
    /// - Parameter files: the texts of the files by their paths; a `root_config.json` is added if there is none.
    init(_ files: [String: String]) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "shipshape-\(UUID().uuidString)").path
        for (name, text) in ["root_config.json": #"{"name": "app"}"#].merging(files, uniquingKeysWith: { $1 }) {
            let file = URL(filePath: path).appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func read() throws(SchemaError) -> ServerSchema { try ServerSchema.read(at: path) }

    func readForLint() throws(SchemaError) -> ServerSchema { try ServerSchema.readForLint(at: path) }

    /// Returns the text of the error that reading the folder throws, with paths relative to the folder; `nil` if it
    /// throws none.
    func failure() -> String? {
        do throws(SchemaError) {
            _ = try read()
            return nil
        } catch {
            return below(error.description)
        }
    }

    func below(_ text: String) -> String {
        text.split(separator: "\(path)/", omittingEmptySubsequences: false).joined()
    }
}
