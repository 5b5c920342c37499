/// A position in a file, with lines and columns counted from 1.
public struct SourceLocation: Hashable, Sendable {
    /// The path of the file; for a file in a folder, the folder's path as the user wrote it, followed by the path
    /// inside the folder.
    public var file: String
    /// The line; 0 if the location is a whole file or a folder.
    public var line: Int
    /// The column, in bytes; 0 if the location is a whole file or a folder.
    public var column: Int

    /// Creates a location from its parts.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// Creates the location of a whole file or a folder.
    public init(whole file: String) { self.init(file: file, line: 0, column: 0) }
}

extension SourceLocation: CustomStringConvertible {
    /// The location as text: `file:line:column`, or only the file.
    public var description: String { line == 0 ? file : "\(file):\(line):\(column)" }
}
