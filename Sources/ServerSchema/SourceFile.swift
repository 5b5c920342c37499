internal import SystemPackage

/// Reads the files that operators write by hand: schemas and jobs.
package enum SourceFile {
    /// The file's text.
    /// - Throws: ``SchemaError`` when it cannot be read or is not UTF-8.
    package static func text(of path: String) throws(SchemaError) -> String {
        let bytes = try bytes(of: path)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SchemaError(
                .notUTF8, at: SourceLocation(whole: path), "the file is not UTF-8", remedy: "save it as UTF-8")
        }
        return text
    }

    /// - Parameter name: the path that errors carry, where it is another.
    static func bytes(of path: String, named name: String? = nil) throws(SchemaError) -> [UInt8] {
        do {
            let descriptor = try FileDescriptor.open(FilePath(path), .readOnly)
            return try descriptor.closeAfter {
                var bytes: [UInt8] = []
                var block = [UInt8](repeating: 0, count: 1 << 16)
                while case let count = try unsafe block.withUnsafeMutableBytes({
                    unsafe try descriptor.read(into: $0)
                }), count > 0 { bytes.append(contentsOf: block[..<count]) }
                return bytes
            }
        } catch {
            throw unreadable(name ?? path, error as? Errno)
        }
    }

    static func unreadable(_ path: String, _ error: Errno?) -> SchemaError {
        let place = SourceLocation(whole: path)
        if error == .noSuchFileOrDirectory {
            return SchemaError(.unreadable, at: place, "there is no such file or folder", remedy: "check the path")
        }
        let reason = error.map { "this cannot be read: \($0)" } ?? "this cannot be read"
        return SchemaError(.unreadable, at: place, reason, remedy: "check the path and its permissions")
    }
}
