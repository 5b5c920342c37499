import Glibc

/// Returns the value of an environment variable; `nil` if it is not set, or empty.
func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
}

/// Returns whether the file exists and the user can execute it.
func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

/// Makes a new empty folder in `TMPDIR` or `/tmp`.
func makeTemporaryFolder(_ prefix: String) throws -> String {
    var template = Array("\(environmentVariable("TMPDIR") ?? "/tmp")/\(prefix)-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw TestSupportError("mkdtemp: errno \(errno)") }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Writes a file that only its owner may read.
func writeText(_ text: String, to path: String) throws {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { throw TestSupportError("\(path): errno \(errno)") }
    defer { close(file) }
    let bytes = Array(text.utf8)
    guard unsafe write(file, bytes, bytes.count) == bytes.count else { throw TestSupportError("\(path): not written") }
}

/// Returns the text of a file, or only its last 64 KiB if the file is larger.
func readText(_ path: String) throws -> String {
    let file = unsafe open(path, O_RDONLY)
    guard file >= 0 else { throw TestSupportError("\(path): errno \(errno)") }
    defer { close(file) }
    let size = lseek(file, 0, SEEK_END)
    lseek(file, max(0, size - 65_536), SEEK_SET)
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}

/// A TCP port of 127.0.0.1.
struct LocalPort: Hashable, Sendable {
    let number: UInt16

    /// Returns a port on which no process listens at present.
    static func free() throws -> LocalPort {
        let (port, file) = try listen()
        close(file)
        return port
    }

    /// Whether a process listens on the port.
    var isOpen: Bool {
        guard let file = connection() else { return false }
        close(file)
        return true
    }

    /// Listens on a free port, and returns the port and the socket.
    static func listen() throws -> (LocalPort, file: Int32) {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = LocalPort(number: 0).address
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(file, pointer, length) == 0 && Glibc.listen(file, 64) == 0
                    ? getsockname(file, pointer, &length) : -1
            }
        }
        guard status == 0 else { throw TestSupportError("cannot listen: errno \(errno)") }
        return (LocalPort(number: UInt16(bigEndian: address.sin_port)), file)
    }

    /// Opens a connection to the port; returns `nil` if no process listens on it.
    func connection() -> Int32? {
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = address
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(file, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(file)
            return nil
        }
        return file
    }

    private var address: sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = number.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
