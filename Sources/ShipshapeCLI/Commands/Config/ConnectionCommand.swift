internal import ArgumentParser

/// `shipshape connection`: the help page for the connection options, which the help of the other commands leaves out.
struct ConnectionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "connection",
        abstract: "Explains the options that name the deployment and log in to it.",
        examples: [
            "status --uri 'mongodb://db1,db2/?replicaSet=rs0' --username ada",
            "check schemas/v2 --env production",
            "unsynced --uri mongodb://db1/ --tls --tls-ca-file ca.pem",
        ],
        details: """
            Most commands take these options. Most of the options can also be set by an environment variable, such as \
            SHIPSHAPE_URI or SHIPSHAPE_AUTH_SOURCE, and in shipshape.yml; shipshape config shows all settings. diff, \
            lint and plan connect to a deployment only with --uri.
            """, connects: false)

    @OptionGroup(title: "Connection") var connection: ConnectionFlags

    func run() throws { throw CleanExit.helpRequest(self) }
}
