import Concurrency
package import Foundation
import LocatedYAML

/// Somebody else who may hold a run, as a job file names them below `throttle`: asked between chunks.
///
/// It is no limit: what the state database holds, such as limits that were tuned, never decides what is run.
package struct Veto: Hashable, Sendable {
    /// Who is asked.
    package enum Asked: Hashable, Sendable {
        /// The answer 200 lets the run go on.
        case http(URL)
        /// A command for the shell; exit code 0 lets the run go on.
        case command(String)
    }

    /// Who is asked.
    package var asked: Asked
    /// How long the answer may take.
    package var timeLimit: Duration = .seconds(5)

    /// The longest that an answer may be waited for.
    private static let longest = Duration.seconds(60)

    /// Reads what a job file says below `throttle`.
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
