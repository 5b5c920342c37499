internal import SystemPackage

/// Reads files that operators write by hand, such as schemas and jobs.
///
/// A file with more bytes than a limit is refused.
package enum SourceFile {
    /// The maximum size of a file in bytes, 16 MiB, for callers that give no other limit.
    package static let largestSize = 16 << 20

    /// Returns the file's text.
    /// - Throws: ``SchemaError`` if the file cannot be read, has more than `limit` bytes, or is not UTF-8.
    package static func text(of path: String, limit: Int = largestSize) throws(SchemaError) -> String {
        let bytes = try bytes(of: path, limit: limit)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SchemaError(
                .notUTF8, at: SourceLocation(whole: path), "the file is not UTF-8", remedy: "save it as UTF-8")
        }
        return text
    }

    /// Returns the file's bytes.
    /// - Parameter name: the path that errors state, if it differs from `path`.
    /// - Throws: ``SchemaError`` if the file cannot be read, or has more than `limit` bytes.
    static func bytes(
        of path: String, named name: String? = nil, limit: Int = largestSize
    ) throws(SchemaError) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            let descriptor = try FileDescriptor.open(FilePath(path), .readOnly)
            try descriptor.closeAfter {
                var block = [UInt8](repeating: 0, count: 1 << 16)
                while bytes.count <= limit,
                    case let count = try unsafe block.withUnsafeMutableBytes({
                        unsafe try descriptor.read(into: $0)
                    }), count > 0
                { bytes.append(contentsOf: block[..<count]) }
            }
        } catch {
            throw unreadable(name ?? path, error as? Errno)
        }
        // The size is checked after reading, because a device reports no size, and a file may grow while it is read.
        guard bytes.count <= limit else {
            throw SchemaError(
                .tooLarge, at: SourceLocation(whole: name ?? path),
                "the file has more than \(limit >> 20) MiB, the limit for such a file",
                remedy: "check that it is the file you mean, or divide it")
        }
        return bytes
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
