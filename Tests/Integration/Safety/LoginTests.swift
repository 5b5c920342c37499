import BSON
import Foundation
import Mongo
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Missing settings of logins and encryption, and settings that can never work, are reported before any connection.
@Suite struct LoginTests {
    /// An address on which no server listens; a program that tries to connect to it ends with exit code 69.
    private static let nowhere = "127.0.0.1:1"

    @Test(arguments: [
        ["status"], ["ledger", "show"], ["check", "live", "--collection", "app.a"], ["undo", "job"],
        ["job", "pause", "job"],
        ["schema", "infer", "--collection", "app.a"], ["job", "cleanup", "job", "--yes"],
    ])
    func aUserWithoutAPasswordIsRefusedBeforeConnecting(_ command: [String]) async throws {
        for user in ["ada@", "ada:@"] {
            let run = try await Program.run(command + ["--uri", "mongodb://\(user)\(Self.nowhere)/"])
            #expect(run.exitCode == 78, "\(run.status) \(run.errors)")
            #expect(
                run.errors
                    == "shipshape: the user \"ada\" has no password [\(Self.nowhere)] (set "
                    + "SHIPSHAPE_PASSWORD or password-file, or run this at a terminal, which asks)\n")
        }
    }

    /// Runs a test with a user who can log in only by SCRAM-SHA-256.
    ///
    /// Such a login crashes the driver if the password is missing.
    private func withUser(_ body: (_ uri: String) async throws -> Void) async throws {
        let mongod = try await Mongod.withAuthentication
        let name = "login-\(UInt32.random(in: 0 ... .max))"
        try await mongod.admin([
            "createUser": .string(name), "pwd": "open sesame", "roles": ["root"], "mechanisms": ["SCRAM-SHA-256"],
        ])
        try await body("mongodb://\(name)@\(mongod.host)/?replicaSet=shipshape")
    }

    @Test func aKnownUserWithoutAPassword() async throws {
        try await withUser { uri in
            let run = try await Program.run(["status", "SHIPSHAPE_STATE_DATABASE=nothing", "--uri", uri])
            #expect(run.exitCode == 78, "\(run.status) \(run.errors)")
            let logged = try await Program.run(
                ["status", "SHIPSHAPE_STATE_DATABASE=nothing", "--uri", uri],
                environment: ["SHIPSHAPE_PASSWORD": "open sesame"])
            #expect(logged.exitCode == 0, "\(logged.errors)")
        }
    }

    @Test func atATerminalThePasswordIsAskedForAndNotShown() async throws {
        try await withUser { uri in
            let status = ["status", "SHIPSHAPE_STATE_DATABASE=nothing", "--uri", uri]
            let run = try await Program.atTerminal(status, askedFor: "password: ", types: #"open sesame\n"#)
            #expect(run.exitCode == 0, "\(run.output)")
            #expect(run.output.contains("No job was started."))
            #expect(!run.output.contains("sesame"))
            let stopped = try await Program.atTerminal(status, askedFor: "password: ", types: #"open\003"#)
            #expect(stopped.exitCode == 75, "\(stopped.output)")
            let none = try await Program.atTerminal(status, askedFor: "password: ", types: #"\n"#)
            #expect(none.exitCode == 78, "\(none.output)")
        }
    }

    @Test(arguments: [
        ("status", "TERM"), ("status", "INT"), ("status", "HUP"), ("check", "TERM"), ("undo", "TERM"),
        ("backfill", "TERM"),
    ])
    func aSignalWhileThePasswordIsAskedForLeavesTheTerminalAsItWas(_ command: String, _ signal: String) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let schema = try folder.write(CommandLineFolder.person, to: "person.json")
        let job = try folder.write("job: j\ncollection: app.person\nsteps:\n  - unset: {field: a}\n", to: "j.yml")
        let rest: [String] =
            switch command {
            case "check": [schema, "--collection", "app.person"]
            case "status": []
            default: [job, "--yes"]
            }
        let script = #"""
            folder=$1 signal=$2; shift 2
            cat >"$folder/inner" <<'INNER'
            folder=$1; shift
            sh -c 'echo $$ >"$0/pid"; exec "$@"' "$folder" "$@"
            echo "ended with $?"; stty -a
            INNER
            mkfifo "$folder/keys"
            script -qec "$(printf '%q ' bash "$folder/inner" "$folder" "$0" "$@")" /dev/null \
                <"$folder/keys" >"$folder/screen" &
            exec 3>"$folder/keys"
            until grep -qF "password: " "$folder/screen" || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
            kill -"$signal" "$(cat "$folder/pid")"
            wait $!; cat "$folder/screen"
            """#
        let run = try await Program.shell(
            script, [folder.path.string, signal, command] + rest + ["--uri", "mongodb://ada@\(Self.nowhere)/"])
        #expect(run.output.contains("ended with 75"), "\(run.output)")
        #expect(run.output.contains("stopped by a signal"))
        #expect(run.output.contains(" echo ") && run.output.contains("isig"), "\(run.output)")
        #expect(!run.output.contains("-echo ") && !run.output.contains("-isig"), "\(run.output)")
    }

    @Test(arguments: ["tlsInsecure", "tlsAllowInvalidCertificates", "tlsAllowInvalidHostnames"])
    func optionsThatLeaveTheServerUnverifiedAreNamed(_ option: String) async throws {
        let run = try await Program.run(
            ["status", "--uri", "mongodb://\(Self.nowhere)/?serverSelectionTimeoutMS=1000&tls=true&\(option)=true"])
        #expect(run.exitCode == 69)
        #expect(run.errors.hasPrefix("shipshape: warning: the connection string says \(option): "), "\(run.errors)")
    }

    @Test func optionsThatTheDriverIgnoresAreReported() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let schema = try folder.write(CommandLineFolder.person, to: "person.json")
        let run = try await Program.run([
            "check", schema, "--collection", "app.person", "--uri",
            "mongodb://127.0.0.1:1/?nosuch=1&compressors=lzma&serverSelectionTimeoutMS=100",
        ])
        #expect(run.exitCode == 69)
        // An unknown option may be the rest of a password that was not escaped, so the warning does not show its name.
        #expect(run.errors.contains(#"warning: Unsupported URI option "…": it is ignored"#), "\(run.errors)")
        #expect(run.errors.contains("warning: Unsupported compressor: 'lzma': it is ignored"), "\(run.errors)")
    }

    @Test func filesThatCanNeverWorkAreBadConfiguration() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let script = """
            openssl req -x509 -newkey rsa:2048 -keyout "$1/key" -out "$1/cert" -days 2 -passout pass:sesame -subj \
            /CN=a &&
            openssl genrsa -out "$1/other" 2048 && cat "$1/cert" "$1/key" >"$1/locked.pem" &&
            cat "$1/cert" "$1/other" >"$1/mixed.pem" && cp "$1/cert" "$1/cert.pem" && echo garbage >"$1/garbage.pem" &&
            mkdir "$1/folder.pem" && mkfifo "$1/pipe.pem" && ln -s /dev/zero "$1/zeros.pem"
            """
        let made = try await Program.shell(script, [folder.path.string])
        try #require(made.exitCode == 0, "\(made.errors)")
        let cases = [
            ("tlsCAFile", "garbage", "it holds no certificate in PEM form"),
            ("tlsCAFile", "folder", "it is not a file"), ("tlsCertificateKeyFile", "folder", "it is not a file"),
            ("tlsCAFile", "pipe", "it is not a file"), ("tlsCertificateKeyFile", "pipe", "it is not a file"),
            ("tlsCAFile", "zeros", "it is not a file"), ("tlsCAFile", "b%0A%1Bx", "No such file or directory"),
            ("tlsCertificateKeyFile", "garbage", "it holds no certificate in PEM form"),
            ("tlsCertificateKeyFile", "cert", "it holds no key in PEM form"),
            ("tlsCertificateKeyFile", "mixed", "the key is not that of the certificate"),
            ("tlsCertificateKeyFile", "locked", "the key is encrypted (set SHIPSHAPE_TLS_KEY_PASSWORD"),
        ]
        for (option, file, reason) in cases {
            let path = folder.path.appending("\(file).pem").string
            let run = try await Program.run([
                "status", "--uri", "mongodb://\(Self.nowhere)/?tls=true&\(option)=\(path)",
            ])
            #expect(run.exitCode == 78, "\(run.errors)")
            let shown = path.replacing("%0A%1B", with: "\\n\\u001b")
            #expect(run.errors.contains("\(shown): \(reason)"), "\(run.errors)")
        }
        let locked = [
            "status", "--uri",
            "mongodb://\(Self.nowhere)/?serverSelectionTimeoutMS=1000&tls=true&tlsCertificateKeyFile="
                + folder.path.appending("locked.pem").string,
        ]
        for (password, code) in [("wrong", Int32(78)), ("sesame", 69)] {
            let run = try await Program.run(locked, environment: ["SHIPSHAPE_TLS_KEY_PASSWORD": .some(password)])
            #expect(run.exitCode == code, "\(run.errors)")
            #expect(!run.errors.contains(password))
        }
    }
}
