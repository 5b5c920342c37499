internal import BSON
internal import Foundation
internal import Mongo

/// The properties of a server that `doctor` examines.
struct ServerFacts: Sendable {
    let hello: ServerHello
    let build: BuildInfo
    /// The privileges of the user; `nil` without a login, or if the server does not show them.
    let privileges: UserPrivileges?
    /// How far this machine's clock is ahead of the server's clock; negative if it is behind.
    let clockDifference: Duration

    /// The limit on the difference between this machine's clock and the server's, in seconds; a difference that reaches
    /// it is reported as a problem.
    static let largestDifference = 5.0

    init(_ client: borrowing Client) throws(MongoError) {
        // The first command also connects to the server. The second command therefore measures the clock without the
        // time that connecting takes.
        build = try client.buildInfo()
        let begin = Date.now
        hello = try client.hello()
        let end = Date.now
        let middle = begin.addingTimeInterval(end.timeIntervalSince(begin) / 2).timeIntervalSince1970
        if case .date(let server)? = hello.reply["localTime"] {
            clockDifference = .milliseconds(Int64(middle * 1_000) - server)
        } else {
            clockDifference = .zero
        }
        do throws(MongoError) { privileges = try client.userPrivileges() } catch {
            guard !error.isAuthentication, !error.isServerSelection else { throw error }
            privileges = nil
        }
    }

    /// Tries to follow the changes of a collection.
    /// - Returns: the error that the server answers; `nil` if the change stream works.
    /// - Throws: ``MongoError`` of a lost connection.
    static func streams(_ namespace: Namespace, on client: borrowing Client) throws(MongoError) -> MongoError? {
        var stream = client.collection(namespace).watch(options: ["maxAwaitTimeMS": 1])
        do throws(MongoError) {
            _ = try stream.next()
            return nil
        } catch {
            guard !error.isTransient else { throw error }
            return error
        }
    }
}
