internal import SystemPackage

/// A reader of a file's lines, which needs little more memory than the longest line.
package struct LineReader: ~Copyable {
    /// The number of the line that was read last, counted from 1.
    package private(set) var number = 0
    private let path: String
    private let limit: Int
    private let descriptor: FileDescriptor
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    /// Opens a file.
    /// - Parameter limit: the most bytes that a line may have.
    /// - Throws: ``SchemaError`` if the file cannot be opened.
    package init(_ path: String, limit: Int = SourceFile.largestSize) throws(SchemaError) {
        do { descriptor = try FileDescriptor.open(FilePath(path), .readOnly) } catch {
            throw SourceFile.unreadable(path, error as? Errno)
        }
        (self.path, self.limit) = (path, limit)
    }

    deinit { try? descriptor.close() }

    /// Reads the next line, without the line feed and the carriage return at its end; `nil` at the end of the file.
    /// - Throws: ``SchemaError`` if the line cannot be read, is too long, or is not UTF-8.
    package mutating func next() throws(SchemaError) -> String? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return try text(of: buffer[start..<end])
            }
            searched = buffer.count
            guard buffer.count - start <= limit else {
                throw SchemaError(
                    .tooLarge, at: SourceLocation(file: path, line: number + 1, column: 1),
                    "the line has more than \(limit >> 20) MiB", remedy: "check that it is the file you mean")
            }
            if isAtEnd {
                guard start < buffer.count else { return nil }
                defer { start = buffer.count }
                return try text(of: buffer[start...])
            }
            if start > 0 {
                buffer.removeSubrange(..<start)
                (searched, start) = (searched - start, 0)
            }
            try fill()
        }
    }

    private mutating func fill() throws(SchemaError) {
        let piece = 1 << 16
        let count = buffer.count
        buffer += repeatElement(0, count: piece)
        do {
            let descriptor = descriptor
            let read = try unsafe buffer.withUnsafeMutableBytes {
                try unsafe descriptor.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[count...]))
            }
            buffer.removeSubrange((count + read)...)
            isAtEnd = read == 0
        } catch { throw SourceFile.unreadable(path, error as? Errno) }
    }

    private mutating func text(of bytes: ArraySlice<UInt8>) throws(SchemaError) -> String {
        number += 1
        guard let text = String(validating: bytes.last == 0x0D ? bytes.dropLast() : bytes, as: UTF8.self) else {
            throw SchemaError(
                .notUTF8, at: SourceLocation(file: path, line: number, column: 1), "the line is not UTF-8",
                remedy: "save the file as UTF-8")
        }
        return text
    }
}
