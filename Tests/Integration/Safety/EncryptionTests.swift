import BSON
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Encrypted connections: if a server or client cannot prove its identity, the error names the reason and a remedy.
@Suite struct EncryptionTests {
    /// The command that connects to the server.
    private static let command = ["ledger", "show"]

    /// Runs a test on a server with TLS.
    ///
    /// In the mode `requireTLS`, it is a standalone server. In any other mode, it requires a login.
    private func withServer(
        mode: String = "preferTLS", _ body: (Mongod, Certificates) async throws -> Void
    ) async throws {
        let certificates = try await Certificates.make()
        defer { certificates.folder.remove() }
        let mongod = try await Mongod.start(
            mode == "requireTLS" ? .standalone : .withAuthentication,
            [
                "--tlsMode", mode, "--tlsCertificateKeyFile", certificates.file("server"), "--tlsCAFile",
                certificates.file("ca"), "--tlsAllowConnectionsWithoutCertificates",
            ])
        try await body(mongod, certificates)
    }

    /// Runs the command with more options in the connection string.
    ///
    /// If the program cannot connect, it fails after eight seconds. This is long enough for a TLS handshake on a busy
    /// machine.
    private func run(_ uri: String, _ options: [String] = [], password: String? = nil) async throws -> ProgramRun {
        let all = (options + ["serverSelectionTimeoutMS=8000"]).joined(separator: "&")
        return try await Program.run(
            Self.command + ["--uri", uri + (uri.contains("?") ? "&" : "?") + all],
            environment: password.map { ["SHIPSHAPE_PASSWORD": $0] } ?? [:])
    }

    /// Expects that the connection was refused, and that the error contains these texts and no password.
    private func expectRefusal(
        _ run: ProgramRun, _ code: Int32 = 69, saying parts: String..., location: SourceLocation = #_sourceLocation
    ) {
        #expect(run.exitCode == code, "\(run.errors)", sourceLocation: location)
        #expect(run.output == "", sourceLocation: location)
        for part in parts { #expect(run.errors.contains(part), "\(run.errors)", sourceLocation: location) }
        #expect(!run.errors.contains("password-"), "\(run.errors)", sourceLocation: location)
    }

    @Test(arguments: ["SCRAM-SHA-1", "SCRAM-SHA-256"]) func aPasswordByEitherMechanism(_ mechanism: String) async throws
    {
        try await withServer { mongod, certificates in
            try await mongod.admin([
                "createUser": "ada", "pwd": "password-1", "roles": ["root"],
                "mechanisms": [.string(mechanism)],
            ])
            let (uri, trust) = ("mongodb://ada@\(mongod.host)/", ["tls=true", "tlsCAFile=\(certificates.file("ca"))"])
            let good = try await run(uri, trust, password: "password-1")
            #expect(good.exitCode == 0, "\(good.errors)")
            let named = try await run("\(uri)?authMechanism=\(mechanism)", trust, password: "password-1")
            #expect(named.exitCode == 0, "\(named.errors)")
            expectRefusal(try await run(uri, trust, password: "password-2"), 77, saying: "Authentication failed")
        }
    }

    @Test func aCertificateInPlaceOfAPassword() async throws {
        try await withServer { mongod, certificates in
            try await mongod.admin(
                [
                    "createUser": .string(Certificates.client), "roles": [["role": "root", "db": "admin"]],
                ], on: "$external")
            let uri = "mongodb://\(mongod.host)/?authMechanism=MONGODB-X509&authSource=%24external"
            func run(_ client: String?) async throws -> ProgramRun {
                try await self.run(
                    uri,
                    ["tls=true", "tlsCAFile=\(certificates.file("ca"))"]
                        + (client.map { ["tlsCertificateKeyFile=\(certificates.file($0))"] } ?? []))
            }
            let good = try await run("client")
            #expect(good.exitCode == 0, "\(good.errors)")
            // The server closes the connection without a message if it does not trust the client.
            for client in ["late", "outsider"] {
                expectRefusal(try await run(client), saying: "a client certificate that it knows")
            }
            expectRefusal(try await run("server"), 77, saying: "CN=server")
            let none = try await run(nil)
            #expect(none.exitCode == 78 || none.exitCode == 77, "\(none.errors)")
        }
    }

    @Test func aServerOfAnotherAuthorityIsNotTrusted() async throws {
        try await withServer { mongod, certificates in
            for options in [["tls=true"], ["tls=true", "tlsCAFile=\(certificates.file("stranger"))"]] {
                let run = try await run("mongodb://\(mongod.host)/", options)
                expectRefusal(run, saying: "certificate verify failed", "tlsCAFile")
            }
            // The operator has turned off the verification of the server, and is warned about that.
            let insecure = try await run("mongodb://\(mongod.host)/?tls=true&tlsAllowInvalidCertificates=true")
            #expect(insecure.errors.contains("tlsAllowInvalidCertificates: the server's identity is not verified"))
        }
    }

    /// The program refuses a server's bad certificate during the handshake.
    ///
    /// The servers are `openssl s_server`, which only presents the certificate.
    @Test(arguments: [
        ("misnamed", "IP address mismatch"), ("expired", "certificate has expired"),
        ("foreign", "unable to get local issuer certificate"),
    ])
    func aCertificateThatProvesNothingEndsTheHandshake(_ name: String, _ reason: String) async throws {
        let certificates = try await Certificates.make()
        defer { certificates.folder.remove() }
        let run = try await Program.shell(
            #"""
            cd "$1"; name=$2; shift 2
            coproc server { exec openssl s_server -accept 127.0.0.1:0 -cert "$name.crt" -key "$name.key" 2>/dev/null; }
            pid=$server_PID
            while read -r word place; do [ "$word" != ACCEPT ] || break; done <&"${server[0]}"
            options='tls=true&tlsCAFile=ca.pem&serverSelectionTimeoutMS=8000'
            SHIPSHAPE_PASSWORD=password-1 "$0" "$@" --uri "mongodb://ada@$place/?$options"
            status=$?
            kill "$pid"
            exit "$status"
            """#,
            [certificates.folder.path.string, name] + Self.command)
        expectRefusal(run, saying: "certificate verify failed", reason, "tlsCAFile")
    }

    @Test func neitherSideContinuesWithoutEncryption() async throws {
        try await withServer(mode: "requireTLS") { mongod, certificates in
            let good = try await run("mongodb://\(mongod.host)/", ["tls=true", "tlsCAFile=\(certificates.file("ca"))"])
            #expect(good.exitCode == 0, "\(good.errors)")
            expectRefusal(try await run("mongodb://\(mongod.host)/"), saying: "may require tls=true")
        }
        // With `tls=true`, the program sends no password to a server without TLS.
        let plain = try await Mongod.shared
        expectRefusal(
            try await run("mongodb://ada@\(plain.host)/", ["tls=true"], password: "password-1"),
            saying: "TLS handshake failed")
    }
}
