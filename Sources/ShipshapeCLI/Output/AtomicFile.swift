internal import Glibc
internal import SystemPackage

/// A file that others see whole or not at all: it is written beside its place, and renamed at the end.
struct AtomicFile {
    /// Its place.
    let path: String
    private let temporary: FilePath
    private let descriptor: FileDescriptor

    /// Begins the file; what stands at its place stays until ``commit()``.
    /// - Throws: ``Errno``.
    init(_ path: String) throws {
        self.path = path
        temporary = FilePath(path + ".partial")
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
        do {
            guard fsync(descriptor.rawValue) == 0 else { throw Errno(rawValue: errno) }
            try descriptor.close()
        } catch {
            discard()
            throw error
        }
        guard unsafe rename(temporary.string, path) == 0 else {
            let reason = Errno(rawValue: errno)
            _ = unsafe unlink(temporary.string)
            throw reason
        }
    }

    /// Leaves nothing of the file.
    func discard() {
        try? descriptor.close()
        _ = unsafe unlink(temporary.string)
    }
}
