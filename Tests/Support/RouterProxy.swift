/// A proxy that makes a server look like a router, to test what the program does behind a router.
///
/// The tests have no sharded cluster. The proxy changes only the replies to hello.
package final class RouterProxy: Sendable {
    private let relay: Relay

    /// Starts to listen, until the process ends or ``close()`` is called.
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

    /// Stops accepting connections; existing connections continue.
    package func close() { relay.close() }
}
