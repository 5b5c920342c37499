import Synchronization
import SystemPackage

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A temporary file with these bytes, which is removed when the object is released.
final class TemporaryFile: Sendable {
    let path: FilePath

    private static let count = Mutex(0)

    init(_ bytes: [UInt8]) throws {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        path = FilePath("/tmp/shipshape-bson-\(getpid())-\(number).bson")
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
        try file.closeAfter { _ = try file.writeAll(bytes) }
    }

    deinit { _ = unsafe path.withPlatformString { unsafe unlink($0) } }
}
