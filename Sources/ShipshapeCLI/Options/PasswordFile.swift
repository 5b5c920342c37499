internal import Foundation
internal import Mongo
internal import SystemPackage

/// Reads the user's password from a file or from an environment variable.
enum PasswordFile {
    /// Returns the password; `nil` if `path` is `nil` and the variable `SHIPSHAPE_PASSWORD` is not set or is empty.
    /// - Parameter isGiven: whether a flag of this run gives `path`; the file then has priority over the variable.
    /// - Throws: ``PasswordFileError``.
    static func password(isGiven: Bool, at path: String?) throws -> String? {
        let variable = ProcessInfo.processInfo.environment["SHIPSHAPE_PASSWORD"].flatMap { $0.isEmpty ? nil : $0 }
        if !isGiven, let variable { return variable }
        return try path.map { try read($0) }
    }

    /// Returns the first line of a file, which is the password.
    /// - Parameter flag: the flag that names the file, for messages.
    static func read(_ path: String, for flag: String = "--password-file") throws -> String {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw PasswordFileError(flag: flag, path: path, reason: "it cannot be read as text")
        }
        let line = String(text.prefix { !$0.isNewline })
        guard !line.isEmpty else { throw PasswordFileError(flag: flag, path: path, reason: "its first line is empty") }
        if let mode = try? FilePath(path).stat().permissions, !mode.isDisjoint(with: [.groupRead, .otherRead]) {
            Console.error("shipshape: warning: other users can read the password in \(path) (run chmod 600 \(path))")
        }
        return line
    }
}

/// An error for a file that has no usable password.
struct PasswordFileError: Error, CustomStringConvertible {
    let flag: String
    let path: String
    let reason: String

    var description: String {
        let variable = flag == "--password-file" ? "SHIPSHAPE_PASSWORD" : "SHIPSHAPE_COLLMOD_PASSWORD"
        return "\(flag) \(path): \(reason) (write the password on its first line, or set \(variable))"
    }
}
