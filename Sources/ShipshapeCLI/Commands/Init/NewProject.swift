internal import BSON
internal import Check
internal import Foundation
internal import Mongo
internal import ServerSchema

/// The first files of a project, and the commands to begin with.
struct NewProject {
    /// The source of the connection string for the deployment.
    enum Deployment {
        /// The connection string is in the environment variable with this name.
        case variable(String)
        /// This connection string is in the configuration file, which other users may be able to read.
        case text(String)

        init(_ answer: String) {
            self = Self.isVariable(answer) ? .variable(answer) : .text(answer)
        }

        private static func isVariable(_ answer: String) -> Bool {
            answer.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil
        }

        /// Returns the reason why the user's answer cannot be used; `nil` if it can be used.
        static func defect(of answer: String) -> String? {
            guard !isVariable(answer) else { return nil }
            guard answer.hasPrefix("mongodb://") || answer.hasPrefix("mongodb+srv://") else {
                return "it is neither the name of a variable nor a connection string, which begins with mongodb:// or "
                    + "mongodb+srv://"
            }
            guard MongoURI.holdsSecret(answer) else { return nil }
            return "the connection string holds a password or another secret, which must not be in a file: put it into "
                + "an environment variable, and give the variable's name"
        }

        fileprivate var value: String {
            switch self {
            case .variable(let name): "${\(name)}"
            case .text(let uri): uri.quotedAsYAML
            }
        }
    }

    let deployment: Deployment
    /// The schema's path, or `live`; `nil` if there is none yet.
    let schema: String?
    let dialect: Dialect
    /// The database of a schema that names only collections; `nil` if it is unknown, or if the schema names it.
    let database: String?

    var files: [(String, String)] {
        [
            (ConfigurationFile.standardName, configuration), ("jobs/README.md", Self.jobs),
            (ExceptionsFile.standardName, Self.exceptions),
        ]
    }

    /// The commands to begin with, in order.
    var nextCommands: [String] {
        let commands =
            schema == nil
            ? [
                "shipshape doctor", "shipshape schema infer --as \(dialect.rawValue) --out schemas",
                "shipshape check schemas",
            ] : ["shipshape doctor", "shipshape lint", "shipshape check"]
        guard case .variable(let name) = deployment, ProcessInfo.processInfo.environment[name] == nil else {
            return commands
        }
        return ["export \(name)='mongodb+srv://…'"] + commands
    }

    /// The text of the configuration file.
    ///
    /// A remark begins with `#` and one space. A setting that the user can switch on begins with `#` and no space. The
    /// lines that continue such a setting begin with `#` and several spaces.
    private var configuration: String {
        """
        # The settings of shipshape in this folder. A SHIPSHAPE_… variable overrides a line.
        # `shipshape doctor --settings list` shows what applies, `--settings schema` prints a JSON Schema for editors.

        # The deployment: a connection string without a password, or ${NAME} for the variable that holds it.
        uri: \(deployment.value)
        #password-file: /etc/shipshape/password

        # The schema that check, lint and doctor read if the command line names none.
        \(schema.map { "schema: \($0.quotedAsYAML)" } ?? "#schema: schemas")

        # The database of a schema that names only collections, such as a schema.prisma.
        \(database.map { "database: \($0.quotedAsYAML)" } ?? "#database: app")

        # The database that holds the state of jobs.
        #state-database: shipshape

        # The sync engine's ledger of unsynced documents, or none.
        \(dialect == .jsonSchema ? "ledger: none" : "#ledger: __realm_sync.unsynced_documents")

        # How many documents may fail a check without exit code 1: for the check as a whole, and for single collections
        # and rules.
        #max-failing: 0.1%
        #thresholds:
        #  - {collection: app.Task, max-failing: 500}
        #  - {collection: app.Task, rule: required-missing, max-failing: 1%}

        # Renames between versions of the schema, because no command guesses them.
        #renames:
        #  - Person.age=yearsSinceBirth

        # Fields that a version of the schema removed for good, although it added another of the same type.
        #removed:
        #  - app.Person.nickname

        # Other deployments, which --env chooses. Commands ask before they write to a protected one.
        #environments:
        #  production:
        #    uri: ${PRODUCTION_URI}
        #    protected: true

        """
    }

    private static let jobs = """
        # Jobs

        Job files for `shipshape backfill`; given this folder, it runs them in the order of their names.
        `shipshape plan OLD NEW --out jobs` writes the jobs between two schemas.

        """

    private static let exceptions = """
        # Findings that you accept: check shows them, and they do not make it fail. Each entry is like this one:
        #
        # - collection: app.Task
        #   path: assignee
        #   rule: required-missing
        #   reason: the old app removes these tasks in March
        #   owner: ada@example.net
        #   expires: 2027-03-31
        []

        """
}
