/// A proxy for a server that claims to be a router, for the decisions that the program bases on that claim.
///
/// No sharded cluster is available, and the proxy does not change commands as a router would.
package final class RouterProxy: Sendable {
    private let relay: Relay

    /// Begins to listen, until the process ends or ``close()`` is called.
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

    /// The connection string through the proxy.
    package var uri: String { "mongodb://\(relay.host)/" }

    /// Stops accepting connections.
    package func close() { relay.close() }
}
