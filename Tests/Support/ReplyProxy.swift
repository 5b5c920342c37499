package import BSON
import Synchronization

/// A proxy between a program and a server, which answers requests in place of the server, or changes its replies.
///
/// It reads the messages of the wire protocol, which must be neither compressed nor encrypted.
package final class ReplyProxy: Sendable {
    private let relay: Relay
    private let answer: @Sendable (BSONDocument) -> BSONDocument?
    private let change: @Sendable (BSONDocument, BSONDocument) throws -> BSONDocument

    /// Starts to listen, until the process ends or ``close()`` is called.
    /// - Parameters:
    ///   - host: the server, as `127.0.0.1:port`.
    ///   - answer: returns the reply to a request that the server does not receive; `nil` to pass the request on.
    ///   - change: returns the reply that the program receives, from the request and the server's reply. If it throws,
    ///     the connection ends.
    package init(
        before host: String, answering answer: @Sendable @escaping (BSONDocument) -> BSONDocument? = { _ in nil },
        changing change: @Sendable @escaping (BSONDocument, BSONDocument) throws -> BSONDocument = { $1 }
    ) throws {
        (relay, self.answer, self.change) = (try Relay(before: host), answer, change)
        relay.start { [self] connection in
            let requests = Requests()
            connection.start { [self] in
                carryRequests(connection, requests)
            } toClient: { [self] in
                carryReplies(connection, requests)
            }
        }
    }

    /// The connection string through the proxy.
    package var uri: String { "mongodb://\(relay.host)/?directConnection=true" }

    /// Stops accepting connections; existing connections continue.
    package func close() { relay.close() }

    /// The requests of a connection that wait for their replies, by their IDs.
    private final class Requests: Sendable {
        let pending = Mutex<[Int32: BSONDocument]>([:])
    }

    private func carryRequests(_ connection: RelayedConnection, _ requests: Requests) {
        while let message = WireMessage(readFrom: connection.client) {
            if let request = message.body {
                if let reply = answer(request) {
                    WireMessage(replyTo: message, reply).write(to: connection.client)
                    continue
                }
                requests.pending.withLock { $0[message.requestID] = request }
            }
            guard message.write(to: connection.server) else { return }
        }
    }

    private func carryReplies(_ connection: RelayedConnection, _ requests: Requests) {
        while var message = WireMessage(readFrom: connection.server) {
            let id = message.responseTo
            if let request = requests.pending.withLock({ $0.removeValue(forKey: id) }), let reply = message.body {
                guard let changed = try? change(request, reply) else { return }
                if changed != reply { message = WireMessage(answering: id, changed) }
            }
            guard message.write(to: connection.client) else { return }
        }
    }
}
