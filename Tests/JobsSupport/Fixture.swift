import Foundation

/// Errors and files of tests.
package enum Fixture {
    /// The error's text; `nil` when there is none.
    package static func failure<R>(_ body: () throws -> R) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Lends the path of a file of these bytes.
    package static func withFile<R>(_ bytes: [UInt8], _ body: (String) throws -> R) throws -> R {
        let file = FileManager.default.temporaryDirectory.appending(path: "shipshape-\(UUID().uuidString).yml")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file.path)
    }
}
