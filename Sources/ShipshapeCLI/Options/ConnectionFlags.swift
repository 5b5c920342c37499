internal import ArgumentParser
internal import BSON
internal import Foundation
internal import Mongo
internal import ServerSchema
internal import Synchronization

/// The flags for the connection to the deployment; they override environment variables.
struct ConnectionFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The connection string; default: SHIPSHAPE_URI, or uri in shipshape.yml.",
            discussion: "Keep the password in a file or in SHIPSHAPE_PASSWORD, because other users can see the flags.",
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

    @Option(
        help: ArgumentHelp(
            "Allow writes to this protected environment; without this option, the command asks for its name.",
            valueName: "name"))
    var yesProtected: String?

    @Option(
        help: ArgumentHelp(
            "How long to look for a server before giving up, such as 500ms, 30s or 2m.", valueName: "duration"))
    var connectTimeout = DurationArgument(.seconds(10))

    @Option(help: ArgumentHelp("Which member answers reads: \(Self.modes).", valueName: "mode"))
    var readPreference: String?

    @Option(
        help: ArgumentHelp(
            "The user to log in as; the password comes from --password-file, SHIPSHAPE_PASSWORD or the terminal.",
            valueName: "name"))
    var username: String?

    @Option(
        help: ArgumentHelp("A file whose first line is the user's password.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Option(help: ArgumentHelp("The database in which the user is defined.", valueName: "database"))
    var authSource: String?

    @Flag(help: "Encrypt the connection.")
    var tls = false

    @Option(
        help: ArgumentHelp("The certificate authorities to trust, as a PEM file.", valueName: "file"),
        completion: .file())
    var tlsCaFile: String?

    @Option(
        help: ArgumentHelp(
            "The client's certificate and key, as a PEM file; SHIPSHAPE_TLS_KEY_PASSWORD holds the key's password.",
            valueName: "file"), completion: .file())
    var tlsCertificateKeyFile: String?

    @Option(
        help: ArgumentHelp("Compress the connection: zstd, zlib or snappy, separated by commas.", valueName: "names"))
    var compressors: String?

    private static let modes = ReadPreference.Mode.allCases.map(\.rawValue).joined(separator: ", ")

    func validate() throws {
        if connectTimeout.duration <= .zero { throw ValidationError("--connect-timeout must be more than nothing") }
        if let readPreference, ReadPreference.Mode(rawValue: readPreference) == nil {
            throw ValidationError("--read-preference: \"\(readPreference)\" is none of \(Self.modes)")
        }
    }

    /// Returns the client pool of the deployment, which does not connect yet.
    /// - Parameters:
    ///   - readsFromPrimary: whether reads go to the primary even if the connection string says otherwise, because a
    ///     decision about a write must not be based on old data.
    ///   - other: the name and the password of the user to log in as, instead of the one in flags and variables.
    func pool(readsFromPrimary: Bool = false, as other: (name: String, password: String)? = nil) throws -> ClientPool {
        let environment = ProcessInfo.processInfo.environment
        guard let uri = connectionString, !uri.isEmpty else {
            throw UsageError(
                Settings.current.unsetVariable.map {
                    "no deployment is named: the configuration takes its connection string from \($0), which is not set"
                } ?? "no deployment is named: give --uri, set SHIPSHAPE_URI, or write uri into shipshape.yml")
        }
        var options = ConnectionOptions(uri: uri)
        options.connectTimeout = connectTimeout.duration
        let preference = (readPreference ?? Settings.current["read-preference"]).flatMap {
            ReadPreference.Mode(rawValue: $0)
        }.map { ReadPreference($0) }
        options.readPreference = readsFromPrimary ? .primary : preference
        options.username = other?.name ?? username
        options.password = try other?.password ?? PasswordFile.password(isGiven: isPasswordFileGiven, at: passwordFile)
        options.authSource = authSource
        options.compressors = compressors?.split(separator: ",").map(String.init)
        if tls || tlsCaFile != nil || tlsCertificateKeyFile != nil {
            var encryption = ConnectionOptions.TLSOptions()
            encryption.caFile = tlsCaFile
            encryption.certificateKeyFile = tlsCertificateKeyFile
            options.tls = encryption
        }
        options.keyPassword = environment["SHIPSHAPE_TLS_KEY_PASSWORD"]
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

    /// Prints a note that `command` ignores the deployment that an environment variable or `shipshape.yml` names.
    ///
    /// The command uses a deployment only if `--uri` names it. Nothing is printed with `--uri`, or if no deployment is
    /// named.
    /// - Parameters:
    ///   - command: the command's name.
    ///   - gain: what the command would do with the deployment, as a clause after "to".
    func noteUnaskedDeployment(for command: String, to gain: String) {
        guard uri == nil, let setting = Setting.all.first(where: { $0.name == "uri" }),
            let value = Settings.current.value(of: setting)
        else { return }
        let file = Settings.current.file
        let entry = Settings.current.environment.flatMap { file.environments[$0]?.values["uri"] } ?? file.values["uri"]
        let variable: String? = if case .variable(let name) = value.source { name } else { entry?.variable }
        let given = variable.map { "\"$\($0)\"" } ?? "URI"
        Console.error(
            "note: \(value.source) names a deployment, but \(command) asks one only with --uri: add --uri \(given) to "
                + gain)
    }

    private var connectionString: String? { uri ?? Settings.current["uri"] }

    /// The database that the path of the connection string names; `nil` if it names none.
    var databaseOfURI: String? { connectionString.flatMap(PrismaSchema.database) }

    /// Whether `--password-file` is on the command line.
    ///
    /// `false` if the file's name comes from an environment variable or from the configuration file.
    private var isPasswordFileGiven: Bool {
        guard let setting = Setting.all.first(where: { $0.name == "password-file" }),
            case .flag? = Settings.current.value(of: setting)?.source
        else { return false }
        return true
    }

    /// The files that are read for the connection, such as certificates.
    var files: [String?] {
        [tlsCaFile, tlsCertificateKeyFile, passwordFile, Settings.current.file.path]
            + (connectionString.map(MongoURI.files(namedIn:)) ?? [])
    }
}
