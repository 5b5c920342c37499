/// A setting that `shipshape.yml`, a `SHIPSHAPE_…` variable and a flag can set, under one name.
struct Setting: Sendable, Hashable {
    /// The type of a setting's value, for the JSON Schema of the configuration.
    enum Kind: Sendable {
        case text, count, flag
    }

    /// The name of the flag without its hyphens, which is also the key in `shipshape.yml`.
    let name: String
    var kind = Kind.text
    /// The meaning of the setting, as a phrase.
    let meaning: String
    /// The value if nothing sets the setting; `nil` if it has no default.
    var fallback: String?
    /// Whether the value may contain a password.
    var isSecret = false
    /// Whether a value from an environment variable or from `shipshape.yml` has the same effect as the flag.
    ///
    /// For example, it is `false` for `uri`, because `--uri` makes `diff` read a deployment, but `SHIPSHAPE_URI` does
    /// not. If `false`, such a value is not added to the command line as a flag; the commands read it from
    /// ``Settings``.
    var replacesFlag = true

    /// The flag that sets the setting, with its hyphens.
    var flag: String { "--\(name)" }

    /// The name of the environment variable that sets the setting.
    var variable: String { "SHIPSHAPE_\(name.uppercased().replacing("-", with: "_"))" }

    /// All settings, in the order of `shipshape config`.
    static let all: [Setting] = [
        Setting(
            name: "uri",
            meaning: "the connection string, better without a password, or ${NAME} for the variable that holds it",
            isSecret: true, replacesFlag: false),
        Setting(name: "username", meaning: "the user"),
        Setting(name: "password-file", meaning: "a file whose first line is the user's password"),
        Setting(name: "auth-source", meaning: "the database in which the user is defined"),
        Setting(name: "connect-timeout", meaning: "how long to look for a server", fallback: "10s"),
        Setting(
            name: "read-preference", meaning: "which member answers reads, for commands that only read",
            replacesFlag: false),
        Setting(name: "tls", kind: .flag, meaning: "whether the connection is encrypted", fallback: "false"),
        Setting(name: "tls-ca-file", meaning: "the certificate authorities to trust, as a PEM file"),
        Setting(name: "tls-certificate-key-file", meaning: "the client's certificate and key, as a PEM file"),
        Setting(name: "compressors", meaning: "how the connection is compressed: zstd, zlib or snappy"),
        Setting(name: "state-database", meaning: "the database that holds the state of jobs", fallback: "shipshape"),
        Setting(name: "ledger", meaning: "the ledger of unsynced documents, or none"),
        Setting(name: "app-id", meaning: "the internal ID of the app whose ledger entries count"),
        Setting(
            name: "limit", kind: .count, meaning: "the count of unsynced documents at which sync stops",
            fallback: "100000"),
        Setting(
            name: "max-failing", meaning: "how many documents may fail a check, or which share such as 0.1%",
            fallback: "0"),
        Setting(
            name: "mixed-collections", meaning: "whether mixed values may be arrays and objects: on or off",
            fallback: "on"),
        Setting(
            name: "threads", kind: .count, meaning: "how many parts of a collection to read at the same time",
            fallback: "2"),
        Setting(name: "lease-ttl", meaning: "how long a runner's lease lasts after each renewal", fallback: "30s"),
        Setting(name: "lease-wait", meaning: "how long to wait for another runner", fallback: "0s"),
        Setting(name: "log-format", meaning: "the form of standard error: text or json", fallback: "text"),
        Setting(name: "on-start", meaning: "a command to run when the work of check, backfill or undo begins"),
        Setting(name: "on-finding", meaning: "a command to run when it ends with findings"),
        Setting(name: "on-wait", meaning: "a command to run when it has to wait"),
        Setting(name: "on-stop", meaning: "a command to run when it is stopped or fails"),
        Setting(name: "on-success", meaning: "a command to run when it ends and nothing is left to do"),
        Setting(name: "hook-timeout", meaning: "how long such a command may take", fallback: "30s"),
        Setting(name: "ids", meaning: "how to show _ids: show, hash or none", fallback: "show"),
    ]
}
