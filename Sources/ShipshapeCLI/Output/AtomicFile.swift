internal import Glibc
internal import SystemPackage

/// A file that others see whole or not at all: it is written beside its place, and renamed at the end.
///
/// A device or a pipe is written as it stands: a file in its place would replace it.
struct AtomicFile {
    /// Its place.
    let path: String
    /// Where it is written meanwhile; `nil` for what is written as it stands.
    private let temporary: FilePath?
    private let descriptor: FileDescriptor

    /// Begins the file; what stands at its place stays until ``commit()``.
    /// - Throws: ``Errno``.
    init(_ path: String) throws {
        self.path = path
        let type = try? FilePath(path).stat().type
        guard type == nil || type == .regular else {
            temporary = nil
            descriptor = try FileDescriptor.open(FilePath(path), .writeOnly)
            return
        }
        let temporary = FilePath(path + ".partial")
        self.temporary = temporary
        descriptor = try FileDescriptor.open(
            temporary, .writeOnly, options: [.create, .truncate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead])
    }

    /// Adds to the file.
    /// - Throws: ``Errno``.
    func write(_ bytes: some Sequence<UInt8>) throws { _ = try descriptor.writeAll(bytes) }

    /// Puts the file in its place.
    /// - Throws: ``Errno``; nothing is left of the file then.
    func commit() throws {
        guard let temporary else { return try descriptor.close() }
        do {
            guard fsync(descriptor.rawValue) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            discard()
            throw error
        }
        try descriptor.close()
        guard unsafe rename(temporary.string, path) == 0 else {
            let reason = Errno(rawValue: errno)
            _ = unsafe unlink(temporary.string)
            throw reason
        }
    }

    /// Leaves nothing of the file.
    func discard() {
        try? descriptor.close()
        if let temporary { _ = unsafe unlink(temporary.string) }
    }
}
