internal import Files
internal import Foundation

/// The second user of `enforce`, who runs `collMod`, the only command by which it changes the collection, and who needs
/// no other privilege.
enum CollModUser {
    /// The name and the password that the settings give; `nil` if one user runs all commands.
    /// - Throws: ``PasswordFileError``; ``UsageError`` if there is no password.
    static var login: (name: String, password: String)? {
        get throws {
            let settings = Settings.current
            guard let name = settings[Known.collmodUsername] else { return nil }
            if let path = settings[Known.collmodPasswordFile] {
                return (name, try PasswordFile.read(path, for: Known.collmodPasswordFile))
            }
            let variable = "SHIPSHAPE_COLLMOD_PASSWORD"
            guard let password = ProcessInfo.processInfo.environment[variable], !password.isEmpty else {
                throw UsageError("the user \(name) has no password: set collmod-password-file, or \(variable)")
            }
            return (name, password)
        }
    }
}
