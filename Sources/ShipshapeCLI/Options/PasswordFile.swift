internal import Foundation
internal import SystemPackage

/// Reads the user's password from a file or from an environment variable.
enum PasswordFile {
    /// Returns the password: that of `SHIPSHAPE_PASSWORD`, else the first line of the file; `nil` if there is neither.
    /// - Throws: ``PasswordFileError``.
    static func password(at path: String?) throws -> String? {
        let variable = ProcessInfo.processInfo.environment["SHIPSHAPE_PASSWORD"].flatMap { $0.isEmpty ? nil : $0 }
        return try variable ?? path.map { try read($0, for: Known.passwordFile) }
    }

    /// Returns the first line of a file, which is the password.
    /// - Parameter setting: the setting that names the file, for messages.
    static func read(_ path: String, for setting: some AnySetting) throws -> String {
        func error(_ reason: String) -> PasswordFileError {
            let variable = setting.variable.replacing("_FILE", with: "")
            return PasswordFileError(
                description: "\(setting.name) \(path): \(reason) (write the password on its first line, or set "
                    + "\(variable))")
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw error("it cannot be read as text")
        }
        let line = String(text.prefix { !$0.isNewline })
        guard !line.isEmpty else { throw error("its first line is empty") }
        if let mode = try? FilePath(path).stat().permissions, !mode.isDisjoint(with: [.groupRead, .otherRead]) {
            Console.error("shipshape: warning: other users can read the password in \(path) (run chmod 600 \(path))")
        }
        return line
    }
}

struct PasswordFileError: Error, CustomStringConvertible {
    let description: String
}
