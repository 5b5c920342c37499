import Concurrency
package import Foundation
import LocatedYAML

/// A service or a command that a run asks between chunks; the answer can make the run wait.
///
/// The job file states the service or the command under the key `throttle`. This key is not one of the limits:
/// operators can change limits in the state database, and no text from that database may be executed as a command.
package struct Veto: Hashable, Sendable {
    /// The way in which a run asks: it requests a URL, or it executes a shell command.
    package enum Asked: Hashable, Sendable {
        /// A URL that is requested; with the answer 200, the run continues.
        case http(URL)
        /// A shell command that is executed; with exit code 0, the run continues.
        case command(String)
    }

    /// The URL or the shell command whose answer decides whether the run waits.
    package var asked: Asked
    /// The longest time that the run waits for an answer.
    package var timeLimit: Duration = .seconds(5)

    private static let longest = Duration.seconds(60)

    /// Reads the value of the key `throttle` in a job file: a URL or a shell command, and the time limit.
    /// - Throws: ``JobError`` with line and column.
    static func read(_ node: YAMLNode) throws(JobError) -> Veto {
        let members = try node.members(of: "\"throttle\"", allowed: ["http", "command", "timeout"])
        var veto: Veto
        switch (members["http"], members["command"]) {
        case (let node?, nil): veto = Veto(asked: .http(try url(node)))
        case (nil, let node?): veto = Veto(asked: .command(try node.text(of: "\"command\"")))
        default: throw node.error("\"throttle\" needs either \"http\", a URL, or \"command\"")
        }
        guard let node = members["timeout"] else { return veto }
        veto.timeLimit = try LimitKind<Duration>.duration.read("timeout", node)
        guard veto.timeLimit <= longest else { throw node.error("\"timeout\" must be at most \(longest.text)") }
        return veto
    }

    private static func url(_ node: YAMLNode) throws(JobError) -> URL {
        let text = try node.text(of: "\"http\"")
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            throw node.error("\"http\" must be a URL like http://sync.example.net:8080/ready")
        }
        guard url.user == nil, url.password == nil else {
            throw node.error("\"http\" must not name a user: a job file is no place for passwords")
        }
        return url
    }
}
