import SystemPackage
import Testing

/// Certificates for one test, which `openssl` makes.
///
/// The authorities are `ca` and `stranger`. The servers are `server`, `misnamed` (for another host), `expired`, and
/// `foreign` (issued by `stranger`). The clients are `client`, `late` (expired), and `outsider` (issued by `stranger`).
/// The authority `ca` issues all other certificates of servers and clients.
struct Certificates {
    /// The subject of the certificate `client` as MongoDB writes it.
    static let client = "CN=ada,O=tests"

    let folder: CommandLineFolder

    static func make() async throws -> Certificates {
        let folder = try CommandLineFolder()
        let run = try await Program.shell(script, [folder.path.string])
        try #require(run.exitCode == 0, "\(run.errors)")
        return Certificates(folder: folder)
    }

    /// Returns the path of a certificate's PEM file; for a server or a client, the file also has the private key.
    func file(_ name: String) -> String { folder.path.appending("\(name).pem").string }

    private static let script = """
        set -e; cd "$1"
        key() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -subj "$2" \
        "${@:3}"; }
        authority() { key "$1" "/CN=$1" -x509 -days 30 -out "$1.pem"; }
        issue() {
            key "$1" "$3" -out "$1.csr"
            printf '%s\\n' "$4" >"$1.ext"
            openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -extfile "$1.ext" -days "$5" \
        -out "$1.crt"
            cat "$1.crt" "$1.key" >"$1.pem"
        }
        authority ca
        authority stranger
        here=subjectAltName=IP:127.0.0.1,DNS:localhost client=extendedKeyUsage=clientAuth
        issue server ca /CN=server "$here" 30
        issue misnamed ca /CN=other subjectAltName=DNS:other.example 30
        issue expired ca /CN=server "$here" -1
        issue foreign stranger /CN=server "$here" 30
        issue client ca /O=tests/CN=ada "$client" 30
        issue late ca /O=tests/CN=ada "$client" -1
        issue outsider stranger /O=tests/CN=ada "$client" 30
        """
}
