import Foundation

/// Helpers for errors and files in tests.
package enum Fixture {
    /// Returns the text of the error that `body` throws; `nil` if it throws none.
    package static func failure<R>(_ body: () throws -> R) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Writes a temporary file with these bytes, and passes its path to `body`.
    package static func withFile<R>(_ bytes: [UInt8], _ body: (String) throws -> R) throws -> R {
        let file = FileManager.default.temporaryDirectory.appending(path: "shipshape-\(UUID().uuidString).yml")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file.path)
    }
}
