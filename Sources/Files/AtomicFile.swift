internal import Foundation
internal import Glibc
package import SystemPackage

/// A file that other programs see whole or not at all, because it is written under another name and renamed at the end.
///
/// The temporary name is unpredictable. The file gets the permissions of the file that it replaces; only the owner can
/// read a new file. A device or a pipe is written directly, because a renamed file would replace it. A link is replaced
/// and never followed, because another user may have made it.
package struct AtomicFile {
    /// The path that the file has once it is complete.
    package let path: String
    /// The path of the file while it is written; `nil` for a stream, a device or a pipe, which is written directly.
    private let temporary: FilePath?
    private let descriptor: FileDescriptor

    /// Opens the file for writing; an existing file at its path stays until ``commit()``.
    /// - Parameter permissions: those of a new file, from which the process's `umask` is subtracted.
    /// - Throws: ``Errno``.
    package init(_ path: String, permissions: FilePermissions = .ownerReadWrite) throws {
        self.path = path
        let place = FilePath(path)
        if let stream = place.stream {
            temporary = nil
            descriptor = FileDescriptor(rawValue: fcntl(stream, F_DUPFD_CLOEXEC, 3))
            guard descriptor.rawValue >= 0 else { throw Errno(rawValue: errno) }
            return
        }
        let present = try? place.stat(followTargetSymlink: false)
        if let present, present.type != .regular, present.type != .symbolicLink {
            temporary = nil
            descriptor = try Self.open(place, isPipe: present.type == .fifo)
            return
        }
        let name = String(UInt64.random(in: .min ... .max), radix: 36)
        let temporary = place.removingLastComponent().appending(".shipshape-\(name).partial")
        descriptor = try FileDescriptor.open(
            temporary, .writeOnly, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
            permissions: permissions)
        self.temporary = temporary
        guard let present, present.type == .regular else { return }
        // If `fchmod` fails, only the owner can read and write the new file.
        _ = fchmod(descriptor.rawValue, present.permissions.rawValue & 0o777)
    }

    /// Checks that a file can be written: opens it as a later write would, and removes the temporary file.
    ///
    /// A pipe is not opened, because its reader would see the end of the data.
    /// - Throws: ``Errno`` if a later ``write(_:to:)`` could not open the file.
    package static func checkWritable(_ path: String) throws {
        switch try? FilePath(path).stat().type {
        case .directory: throw Errno.isDirectory
        case .fifo:
            guard unsafe access(path, W_OK) == 0 else { throw Errno(rawValue: errno) }
        default: try AtomicFile(path).discard()
        }
    }

    /// Writes a whole file at once.
    /// - Throws: ``Errno``; an existing file at the path then stays.
    package static func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        let file = try AtomicFile(path)
        do { try file.write(bytes) } catch {
            file.discard()
            throw error
        }
        try file.commit()
    }

    /// Adds bytes at the end of the file.
    /// - Throws: ``Errno``.
    package func write(_ bytes: some Sequence<UInt8>) throws { _ = try descriptor.writeAll(bytes) }

    /// Gives the complete file its path, in place of an existing file.
    /// - Throws: ``Errno``; the temporary file is then removed.
    package func commit() throws {
        guard let temporary else { return try descriptor.close() }
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

    /// Closes the file, and removes the temporary file if there is one.
    package func discard() {
        try? descriptor.close()
        if let temporary { _ = unsafe unlink(temporary.string) }
    }

    /// The longest time to wait until a program opens a pipe for reading.
    private static let openTimeout: Duration = .seconds(10)

    /// Opens a device or a pipe.
    ///
    /// A plain open of a pipe that no program reads would block for ever, and no signal would end it. The method
    /// therefore tries repeatedly without blocking, and fails after ``openTimeout``. If another user has put a link or
    /// a regular file at the path since the path was examined, the method throws, and writes nothing.
    private static func open(_ place: FilePath, isPipe: Bool) throws -> FileDescriptor {
        let deadline = ContinuousClock.now + openTimeout
        while true {
            do {
                let options: FileDescriptor.OpenOptions = isPipe ? .nonBlocking : []
                let descriptor = try FileDescriptor.open(
                    place, .writeOnly, options: options.union([.noFollow, .closeOnExec]))
                guard try descriptor.stat().type != .regular else {
                    try descriptor.close()
                    throw Errno.fileExists
                }
                if isPipe { _ = fcntl(descriptor.rawValue, F_SETFL, O_WRONLY) }
                return descriptor
            } catch Errno.noSuchAddressOrDevice where isPipe && .now < deadline {
                usleep(50_000)
            }
        }
    }
}

extension FilePath {
    /// The stream of this process that the path names, such as `/dev/stdout`; `nil` for other paths.
    fileprivate var stream: Int32? {
        switch string {
        case "/dev/stdout": 1
        case "/dev/stderr": 2
        default:
            ["/dev/fd", "/proc/self/fd"].contains(removingLastComponent().string)
                ? lastComponent.flatMap { Int32($0.string) } : nil
        }
    }
}

/// Files that a command writes together, in folders that it creates if needed.
package struct NewFiles {
    private let files: [(path: String, text: String)]

    package init(_ files: some Sequence<(String, String)>) { self.files = files.map { ($0, $1) } }

    /// Writes all files, or none if one of them cannot be written, or exists and must not be replaced.
    ///
    /// All files are first written under temporary names and then renamed. If renaming a file fails, the files that
    /// were renamed before it stay.
    /// - Parameters:
    ///   - replacing: whether existing files are replaced; a link is a file, even if it leads to nothing.
    ///   - project: the folder that all files must be in; `nil` for any place.
    /// - Throws: ``OutputError``.
    package func write(replacing: Bool, in project: String? = nil) throws {
        func isPresent(_ path: String) -> Bool { (try? FilePath(path).stat(followTargetSymlink: false)) != nil }
        if !replacing, let present = files.first(where: { isPresent($0.path) })?.path {
            throw OutputError(
                description: "nothing was written: \(present) already exists (--force replaces it)")
        }
        if let project, let outside = files.first(where: { Self.leaves(project, $0.path) })?.path {
            throw OutputError(
                description: "nothing was written: a link leads from the folder of \(outside) out of this project")
        }
        // Every file is complete under a temporary name before the first file gets its final name.
        var staged: [AtomicFile] = []
        do {
            for (path, text) in files { staged.append(try Self.stage(text, for: path, isShared: project != nil)) }
        } catch {
            for file in staged { file.discard() }
            throw error
        }
        for (index, file) in staged.enumerated() {
            do { try file.commit() } catch {
                for rest in staged[(index + 1)...] { rest.discard() }
                throw OutputError(description: "cannot write \(file.path): \(error)")
            }
        }
    }

    /// Whether the folder of a file, or the part of it that exists, is not in another folder.
    private static func leaves(_ project: String, _ path: String) -> Bool {
        var folder = FilePath(path).removingLastComponent()
        while !folder.isEmpty, (try? folder.stat(followTargetSymlink: false)) == nil {
            folder = folder.removingLastComponent()
        }
        guard let home = OutputPlaces.real(FilePath(project)),
            let place = OutputPlaces.real(folder.isEmpty ? "." : folder)
        else { return true }
        return !FilePath(place).starts(with: FilePath(home))
    }

    private static func stage(_ text: String, for path: String, isShared: Bool) throws -> AtomicFile {
        do {
            let folder = FilePath(path).removingLastComponent().string
            if !folder.isEmpty {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            // The files of a project are for all who work in it, as the files that an editor creates.
            let file = try AtomicFile(
                path, permissions: isShared ? [.ownerReadWrite, .groupReadWrite, .otherReadWrite] : .ownerReadWrite)
            do { try file.write(text.utf8) } catch {
                file.discard()
                throw error
            }
            return file
        } catch let error as CocoaError {
            // Foundation's own error texts are not meant for users.
            let reason = (error.underlying as? POSIXError).map { "\(Errno(rawValue: $0.code.rawValue))" }
            throw OutputError(description: "cannot write \(path): \(reason ?? "its folder cannot be created")")
        } catch {
            throw OutputError(description: "cannot write \(path): \(error)")
        }
    }
}
