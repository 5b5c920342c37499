internal import ArgumentParser
internal import BSON
internal import Files
internal import Foundation
internal import Mongo
internal import Synchronization

/// The options that select the deployment and the settings.
struct ConnectionFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The connection string; default: SHIPSHAPE_URI, or uri in shipshape.yml.",
            discussion: "Keep the password in SHIPSHAPE_PASSWORD or a file, because other users can see the options.",
            valueName: "mongodb://…"))
    var uri: String?

    @Option(
        help: ArgumentHelp(
            "The configuration file; default: SHIPSHAPE_CONFIG, else shipshape.yml in the working folder.",
            valueName: "file"), completion: .file())
    var config: String?

    @Option(
        name: .customLong("env"),
        help: ArgumentHelp("The environment to use from the configuration; default: SHIPSHAPE_ENV.", valueName: "name"),
        completion: .environments)
    var environment: String?

    /// Returns the client pool of the deployment, which does not connect yet.
    /// - Parameters:
    ///   - readsFromPrimary: whether reads go to the primary even if the connection string says otherwise, because a
    ///     decision about a write must not be based on old data.
    ///   - other: the name and the password of the user to log in as, instead of the one in the settings.
    ///   - silence: the longest silence of a server that is working on a command; `nil` for the connection string's.
    func pool(
        readsFromPrimary: Bool = false, as other: (name: String, password: String)? = nil, silence: Duration? = nil
    ) throws -> ClientPool {
        let settings = Settings.current
        guard let uri = settings.uri, !uri.isEmpty else {
            throw UsageError(
                settings.unsetVariable.map {
                    "no deployment is named: the configuration takes its connection string from \($0), which is not set"
                } ?? "no deployment is named: give --uri, set SHIPSHAPE_URI, or write uri into shipshape.yml")
        }
        var options = ConnectionOptions(uri: uri)
        if readsFromPrimary { options.readPreference = .primary }
        options.socketTimeout = silence
        options.username = other?.name ?? settings[Known.username]
        options.password = try other?.password ?? PasswordFile.password(at: settings[Known.passwordFile])
        options.keyPassword = ProcessInfo.processInfo.environment["SHIPSHAPE_TLS_KEY_PASSWORD"]
        DriverWarnings.show()
        let pool = try Self.open(options)
        pool.overload.set(isStopped: { Interruption.isRaised }) { reason in
            Console.error("shipshape: waiting, because the server refuses work under load: \(reason.printable)")
        }
        for option in pool.weaknesses {
            Console.error(
                "shipshape: warning: the connection string says \(option): the server's identity is not verified")
        }
        return pool
    }

    /// The passwords that the user typed at the terminal, kept so that a command that connects twice asks only once.
    private static let typed = Mutex<(password: String?, keyPassword: String?)>((nil, nil))

    /// Opens the client pool; asks the user at the terminal for a password that is missing.
    private static func open(_ options: ConnectionOptions) throws -> ClientPool {
        var options = options
        typed.withLock { typed in
            options.password = options.password ?? typed.password
            options.keyPassword = options.keyPassword ?? typed.keyPassword
        }
        do throws(MongoError) {
            return try ClientPool.open(options)
        } catch {
            guard error.code == .passwordMissing || error.code == .keyPasswordMissing,
                let answer = try Console.secret("\(error.message); password: "), !answer.isEmpty
            else { throw error }
            typed.withLock { typed in
                if error.code == .passwordMissing { typed.password = answer } else { typed.keyPassword = answer }
            }
        }
        return try open(options)
    }

    /// The files that are read for the connection, such as certificates.
    var files: [String?] {
        let settings = Settings.current
        return [settings[Known.passwordFile], settings.file.path] + (settings.uri.map(MongoURI.files(namedIn:)) ?? [])
    }
}

/// The option of commands that work without a deployment, and say more with one.
struct OfflineFlags: ParsableArguments {
    @Flag(help: "Do not ask the deployment that --uri, SHIPSHAPE_URI or shipshape.yml names.")
    var offline = false

    /// Whether the command asks the deployment: a configured one is asked, without this option.
    var asks: Bool { !offline && Settings.current.uri?.isEmpty == false }

    /// Prints a note that the configured deployment was not asked; prints nothing if none is configured.
    /// - Parameter gain: what the command would do with the deployment, as a clause after "to".
    func note(_ gain: String) {
        let settings = Settings.current
        guard !asks else { return }
        if let variable = settings.unsetVariable {
            Console.error("Note: the deployment was not asked, because \(variable) is not set: set it to \(gain)")
        } else if offline, settings.uri?.isEmpty == false {
            Console.error("Note: the deployment was not asked: leave out --offline to \(gain)")
        }
    }
}

/// The option of commands that write, which confirms a write to a protected environment.
struct ProtectionFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Allow writes to this protected environment; without this option, the command asks for its name.",
            valueName: "name"))
    var yesProtected: String?
}
