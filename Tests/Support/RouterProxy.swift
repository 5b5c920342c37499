/// A proxy before a server that says that it is a router: what it takes for one goes by that.
///
/// No sharded cluster is at hand. What a router does to a command it does not do.
package final class RouterProxy: Sendable {
    private let relay: Relay

    /// Begins to listen, until the process ends or ``close()``.
    /// - Parameter host: the server, as `127.0.0.1:port`.
    package init(before host: String) throws {
        relay = try Relay(before: host)
        relay.start { connection in
            connection.start {
                while let message = WireMessage(readFrom: connection.client) {
                    guard message.write(to: connection.server) else { return }
                }
            } toClient: {
                while let message = WireMessage(readFrom: connection.server) {
                    guard message.asOfRouter.write(to: connection.client) else { return }
                }
            }
        }
    }

    /// The connection string by way of it.
    package var uri: String { "mongodb://\(relay.host)/" }

    /// Takes no more connections.
    package func close() { relay.close() }
}
