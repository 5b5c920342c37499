internal import Files
internal import Foundation
internal import SystemPackage

/// Writes files that the operator reviews and keeps.
enum PartnerFiles {
    /// Writes a new file below a folder, which is created if it does not exist.
    /// - Throws: ``OutputError`` if the file exists or cannot be written.
    static func write(_ text: String, to path: String, in folder: String) throws {
        let place = FilePath(folder).pushing(FilePath(path))
        guard !FileManager.default.fileExists(atPath: place.string) else {
            throw OutputError(description: "\(place) exists already, and was not replaced")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: place.removingLastComponent().string, withIntermediateDirectories: true)
            try AtomicFile.write(text.utf8, to: place.string)
        } catch {
            throw OutputError(description: "cannot write \(place): \(error)")
        }
    }
}
