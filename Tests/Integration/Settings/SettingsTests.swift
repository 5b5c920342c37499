import BSON
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests the order of precedence of settings: an option, a variable, an environment in `shipshape.yml`, the top level
/// of that file.
@Suite struct SettingsTests {
    private static let nowhere = "mongodb://127.0.0.1:1/"

    private func withFile<R>(_ text: String?, _ body: (CommandLineFolder) async throws -> R) async throws -> R {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        if let text { try folder.write(text, to: "shipshape.yml") }
        return try await body(folder)
    }

    /// Returns the value of a setting and the source that set it, as `doctor --settings list` shows them.
    private func setting(
        _ name: String, _ flags: [String] = [], file: String?, variables: [Environment.Key: String?] = [:]
    ) async throws -> [String?] {
        try await withFile(file) { folder in
            let run = try await Program.run(
                ["doctor", "--settings", "list", "-o", "json"] + flags, environment: variables, in: folder.path)
            try #require(run.exitCode == 0, "\(run.errors)")
            let settings = try BSONDocument(extendedJSON: run.output)["settings"]?.document?.values ?? []
            let row = settings.compactMap(\.document).first { $0["name"]?.text == name }
            return [row?["value"]?.text, row?["from"]?.text]
        }
    }

    @Test func theNearestSourceHolds() async throws {
        let file = """
            state-database: file
            environments:
              production:
                state-database: production
            """
        let name = "state-database"
        #expect(try await setting(name, file: nil) == ["shipshape", "default"])
        #expect(try await setting(name, file: file) == ["file", "shipshape.yml:1"])
        #expect(
            try await setting(name, ["--env", "production"], file: file)
                == ["production", "shipshape.yml:4 (production)"])
        #expect(
            try await setting(name, file: file, variables: ["SHIPSHAPE_ENV": "production"])
                == ["production", "shipshape.yml:4 (production)"])
        let variables: [Environment.Key: String?] = ["SHIPSHAPE_STATE_DATABASE": "variable"]
        #expect(
            try await setting(name, ["--env", "production"], file: file, variables: variables)
                == ["variable", "SHIPSHAPE_STATE_DATABASE"])
        let (option, place) = ("mongodb://127.0.0.1:2/", "mongodb://127.0.0.1:3/")
        #expect(
            try await setting(
                "uri", ["--uri", option], file: "uri: \(Self.nowhere)\n", variables: ["SHIPSHAPE_URI": place])
                == [option, "--uri"])
        #expect(
            try await setting("uri", file: "uri: \(Self.nowhere)\n", variables: ["SHIPSHAPE_URI": place])
                == [place, "SHIPSHAPE_URI"])
    }

    @Test func aPasswordIsNeverShown() async throws {
        let uri = "mongodb://ada:sesame@127.0.0.1:1/?authSource=admin"
        let file = "uri: \(uri)\n"
        #expect(
            try await setting("uri", file: file) == ["mongodb://***@127.0.0.1:1/?authSource=admin", "shipshape.yml:1"])
        try await withFile(file) { folder in
            for form in ["text", "json"] {
                let run = try await Program.run(
                    ["doctor", "--settings", "list", "-o", form], environment: ["SHIPSHAPE_PASSWORD": "sesame"],
                    in: folder.path
                )
                #expect(run.exitCode == 0)
                #expect(!(run.output + run.errors).contains("sesame"), "\(run.output)")
            }
        }
    }

    /// A setting in `shipshape.yml` affects a command, and its variable beats it.
    @Test func aVariableBeatsTheFile() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { state in
            try await withFile("uri: \(mongod.uri)\nstate-database: \(state.name)\n") { folder in
                try folder.write(
                    "job: a\ncollection: \(state.name).people\nsteps: [copy: {from: d, to: e}]\n", to: "j.yml")
                let run = try await Program.run(["backfill", "j.yml", "--dry-run"], in: folder.path)
                #expect(run.exitCode == 65)
                #expect(run.errors.contains("the database holds the state of jobs"), "\(run.errors)")
                let other = try await Program.run(
                    ["status"], environment: ["SHIPSHAPE_STATE_DATABASE": "admin"], in: folder.path)
                #expect(other.exitCode == 78, "\(other.errors)")
                #expect(other.errors.contains("SHIPSHAPE_STATE_DATABASE: "), "\(other.errors)")
            }
        }
    }

    @Test(
        arguments: [
            ("limmit: 5", [], 78, #"shipshape.yml:1:1: the configuration has no key "limmit" (did you mean "limit"?)"#),
            ("limit: many", [], 78, #"shipshape.yml:1:8: "limit": it must be a number of at least 1"#),
            ("prefilter: maybe", [], 78, #"shipshape.yml:1:12: "prefilter": it must be true or false"#),
            ("tls: true", [], 78, #"the configuration has no key "tls""#),
            (
                "protected: true", [], 78,
                #"shipshape.yml:1:1: "protected" does not belong in the configuration: write it into"#
            ),
            ("stop: mail", [], 78, #""stop" does not belong in the configuration: write it below "on""#),
            (
                "environments: {prod: {renames: []}}", [], 78,
                #""renames" does not belong in the environment "prod": write it at the top level"#
            ),
            ("on: {end: mail}", [], 78, #"shipshape.yml:1:6: "on" has no key "end""#),
            ("password: x", [], 78, "the configuration must not contain a password"),
            ("environments: {prod: {protectd: true}}", [], 78, #"no key "protectd" (did you mean "protected"?)"#),
            ("environments: {prod: {}}", ["--env", "prdo"], 64, #"no environment "prdo" (did you mean "prod"?)"#),
            ("lease-ttl: 5 weeks", [], 78, #"shipshape.yml:1:12: "lease-ttl": "#),
            ("hook-timeout: 0s", [], 78, #"shipshape.yml:1:15: "hook-timeout": it must be more than nothing"#),
        ] as [(String, [String], Int32, String)])
    func aBadSettingIsNamedWithItsPlace(
        _ file: String, _ flags: [String], _ code: Int32, _ text: String
    ) async throws {
        try await withFile(file) { folder in
            try folder.write("job: a\ncollection: app.people\nsteps: [copy: {from: d, to: e}]\n", to: "j.yml")
            let run = try await Program.run(
                ["backfill", "j.yml", "--uri", Self.nowhere] + flags, in: folder.path)
            #expect(run.exitCode == code, "\(run.errors)")
            #expect(run.errors.contains(text), "\(run.errors)")
            // Help is shown although a setting is bad.
            let help = try await Program.run(["backfill", "--help"], in: folder.path)
            #expect(help.exitCode == 0)
        }
    }

    @Test(arguments: [
        ("LIMIT=many", "it must be a number of at least 1"), ("LIMIT=0", "it must be a number of at least 1"),
        ("THREADS=65", "it must be from 1 to 64"), ("RATE=-5", "it must be a number of at least 1"),
        ("LEDGER=ledger", "\"ledger\" is neither none nor DATABASE.COLLECTION"),
        ("LEASE_TTL=10ms", "it must be from 1s to 1h"), ("LEASE_WAIT=soon", "is no duration"),
        ("STATE_DATABASE=a.b", "\"a.b\" cannot be the name of the state database"),
        ("PREFILTER=yes", "it must be true or false"), ("NULL_TYPES=true", "it must be on or off"),
        ("IDS=hsah", "\"hsah\" is none of show, hash, none (did you mean \"hash\"?)"),
        ("RENAMES=age", "a rename is OLD=NEW"), ("ENGINE=powersink", "did you mean \"powersync\"?"),
        ("MAX_FAILING=some", "is neither a number of documents nor a share"),
    ])
    func aBadVariableIsNamed(_ word: String, _ message: String) async throws {
        let run = try await Program.run(["check", "schema.json", "--uri", Self.nowhere, "SHIPSHAPE_\(word)"])
        #expect(run.exitCode == 78 && run.output.isEmpty, "\(run.status) \(run.errors)")
        #expect(run.errors.hasPrefix("shipshape: SHIPSHAPE_\(word.prefix { $0 != "=" }): "), "\(run.errors)")
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test func thePasswordComesFromAFile() async throws {
        let mongod = try await Mongod.withAuthentication
        let name = "settings-\(UInt32.random(in: 0 ... .max))"
        _ = try await mongod.addUser(name, roles: ["root"])
        let uri = "mongodb://\(name)@\(mongod.host)/?replicaSet=shipshape"
        try await withFile("password-file: secret\n") { folder in
            let path = try folder.write("\(name)-password\nignored\n", to: "secret")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            try folder.write("\n", to: "empty")
            let status = ["status", "SHIPSHAPE_STATE_DATABASE=nothing", "--uri", uri]
            let run = try await Program.run(status, in: folder.path)
            #expect(run.exitCode == 0 && run.errors.isEmpty, "\(run.errors)")
            // The variable with the password itself beats the file.
            let variable: [Environment.Key: String?] = ["SHIPSHAPE_PASSWORD": "wrong"]
            #expect(try await Program.run(status, environment: variable, in: folder.path).exitCode == 77)
            let empty = try await Program.run(status + ["SHIPSHAPE_PASSWORD_FILE=empty"], in: folder.path)
            #expect(empty.exitCode == 78)
            #expect(empty.errors.contains("password-file empty: its first line is empty"), "\(empty.errors)")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            let open = try await Program.run(status, in: folder.path)
            #expect(open.errors.contains("chmod 600"), "\(open.errors)")
        }
    }

    @Test func theSchemaOfTheFileIsThatOfTheProgram() async throws {
        let run = try await Program.run(["doctor", "--settings", "schema"])
        let existing = try String(
            contentsOfFile: Repository.path("docs/reference/shipshape.schema.json").string, encoding: .utf8)
        #expect(run.output == existing, "run scripts/reference")
        let schema = try BSONDocument(extendedJSON: existing.replacing(#""$schema""#, with: #""schema""#))
        let keys = try schema["properties"]?.document?.elements().map(\.name) ?? []
        #expect(keys.count > 15 && keys.contains("environments") && keys.contains("state-database"))
    }
}
