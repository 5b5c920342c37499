/// A position in a file, with lines and columns counted from 1.
public struct SourceLocation: Hashable, Sendable {
    /// The file's path; for a file in a folder, the folder's path as the user gave it and the path inside the folder.
    public var file: String
    /// The line; 0 when the location is the whole file, or a folder.
    public var line: Int
    /// The column, in bytes; 0 when the location is the whole file, or a folder.
    public var column: Int

    /// Creates the location of one position in a file.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// Creates the location of a file as a whole, or of a folder.
    public init(whole file: String) { self.init(file: file, line: 0, column: 0) }
}

extension SourceLocation: CustomStringConvertible {
    /// `file:line:column`, or the file alone.
    public var description: String { line == 0 ? file : "\(file):\(line):\(column)" }
}
