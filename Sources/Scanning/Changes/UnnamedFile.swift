import Glibc
import SystemPackage

/// A temporary file that is in no folder; the system deletes it when the process closes it or ends.
enum UnnamedFile {
    /// Returns `folder`, or for `nil` the folder that `TMPDIR` names, or else `/tmp`.
    static func folder(_ folder: String?) -> String {
        folder ?? (unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp")
    }

    /// Creates and opens a file in `folder`; `nil` means the folder that `TMPDIR` names, or else `/tmp`.
    static func open(in folder: String?) throws(Errno) -> FileDescriptor {
        var path = Array((self.folder(folder) + "/shipshape-XXXXXX").utf8CString)
        let descriptor = unsafe mkstemp(&path)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        _ = unsafe unlink(path)
        return FileDescriptor(rawValue: descriptor)
    }

    /// Appends numbers to the file, in the machine's own byte order.
    static func write<Number: FixedWidthInteger & BitwiseCopyable>(
        _ numbers: [Number], to file: FileDescriptor
    ) throws(Errno) {
        let failure: Errno? = unsafe numbers.withUnsafeBytes { bytes in
            do throws(Errno) { try unsafe write(bytes, to: file) } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }

    /// Appends bytes to the file.
    static func write(_ bytes: UnsafeRawBufferPointer, to file: FileDescriptor) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let count = unsafe Glibc.write(file.rawValue, bytes.baseAddress?.advanced(by: done), bytes.count - done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Errno(rawValue: errno) }
            done += count
        }
    }

    /// Reads `count` numbers from the byte `offset` of the file on, and moves `offset` to the byte after them.
    static func read<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, _ count: Int, from file: FileDescriptor, at offset: inout Int
    ) throws(Errno) -> [Number] {
        var numbers = [Number](repeating: 0, count: count)
        let start = offset
        let failure: Errno? = unsafe numbers.withUnsafeMutableBytes { bytes in
            var done = 0
            while done < bytes.count {
                let rest = unsafe bytes.baseAddress?.advanced(by: done)
                let count = unsafe pread(file.rawValue, rest, bytes.count - done, off_t(start + done))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count == 0 ? .ioError : Errno(rawValue: errno) }
                done += count
            }
            return nil
        }
        if let failure { throw failure }
        offset += count * MemoryLayout<Number>.stride
        return numbers
    }
}
