import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// A password in a connection string is never shown, even if no driver can parse the string.
@Suite struct ConnectionSecretTests {
    private static let named = [
        "mongodb://ada:hush1 hush2@127.0.0.1:1/", "mongodb://ada:hush1@hush2@127.0.0.1:1/",
        "mongodb://ada:hush1\thush2/@127.0.0.1:1/", "MONGODB://ada:hush1@127.0.0.1:1/",
        "mongdb://ada:hush1 hush2@127.0.0.1:1/", "mongodb+srv://ada:hush1@hush2 hush3@cluster.example/",
        "mongodb:/ada:hush1@127.0.0.1:1/", "mongodb://ada:hush1@\u{301}127.0.0.1:1/",
        "mongodb://127.0.0.1:1/?tls=true&tlsCertificateKeyFilePassword=hush1 hush2&w=1",
        "mongodb://127.0.0.1:1/?authMechanismProperties=AWS_SESSION_TOKEN:hush1&w=1",
    ]
    private static let nameless = ["ada:hush1 hush2@127.0.0.1:1/", "mongodb://ada:hush1", "mongodb://ada:hush1 hush2"]

    private func expectHidden(_ run: ProgramRun, _ what: String) {
        for text in [run.output, run.errors] {
            #expect(!text.contains("hush"), "\(what): \(text)")
        }
    }

    @Test(arguments: named + nameless) func noPlaceOfTheSettingShowsIt(_ uri: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let quoted = "\"\(uri.replacing("\t", with: "\\t"))\""
        try folder.write("uri: \(quoted)\n", to: "shipshape.yml")
        try folder.write("uri: [\(quoted)]\n", to: "bad.yml")
        try folder.write("uri:\n- \(quoted)\n- {a: 1}\n", to: "list.yml")
        try folder.write("uri:\n  a: {}\n  b:\n    - \(quoted)\n", to: "nested.yml")
        let variable: [Environment.Key: String?] = ["SHIPSHAPE_URI": uri]
        for form in ["text", "json"] {
            let settings = ["doctor", "--settings", "list", "-o", form]
            let runs = [
                try await Program.run(settings + ["--uri", uri]),
                try await Program.run(settings, environment: variable),
                try await Program.run(settings, in: folder.path),
            ]
            for run in runs {
                #expect(run.exitCode == 0, "\(run.errors)")
                #expect(run.output.contains("***"), "\(run.output)")
                expectHidden(run, "doctor --settings \(form)")
            }
            let commands = [
                ["status", "--uri", uri], ["status", "--uri", uri, "--uri", uri],
                ["status", "--uri=\(uri)", "--extra"],
                ["check", "v2", "--uri", uri], ["doctor", "--settings", "list", "--config", "bad.yml"],
                ["status", "--config", "bad.yml"],
                ["doctor", "--settings", "list", "--config", "list.yml"],
                ["doctor", "--settings", "list", "--config", "nested.yml"],
            ]
            for command in commands {
                let run = try await Program.run(
                    command + ["-o", form], in: folder.path)
                #expect(![0, 1, 70].contains(run.exitCode), "\(command): \(run.errors)")
                expectHidden(run, "\(command[0])")
            }
        }
    }

    @Test(arguments: named) func noErrorShowsIt(_ uri: String) async throws {
        let commands = [
            [uri], ["check", uri], ["check", "v2", "SHIPSHAPE_LEDGER=\(uri)"], ["backfill", uri], ["lint", uri],
            ["diff", uri, uri],
            ["undo", uri], ["status", uri, uri], ["lint", "\(DemoApp.folder)/v1", "--report", "\(uri)/a.json"],
            ["check", "v2", "--source", uri], ["check", "v2", "--where", uri],
            ["doctor", "--settings", "list", "--config", uri],
        ]
        for command in commands {
            for form in [[], ["-o", "json"]] {
                let run = try await Program.run(
                    command + form,
                    environment: ["SHIPSHAPE_URI": "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100"])
                #expect(![0, 70].contains(run.exitCode), "\(command): \(run.errors)")
                expectHidden(run, "\(command[0])")
            }
        }
    }
}
