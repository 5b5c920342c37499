import Concurrency
import Glibc
import Synchronization

/// A TCP proxy for a server; the caller decides what happens to each connection.
final class Relay: Sendable {
    /// The proxy's address, as in a connection string.
    let host: String
    private let listener: Int32
    private let server: LocalPort

    /// Listens on a free port, without accepting connections yet.
    /// - Parameter host: the server, as `127.0.0.1:port`.
    init(before host: String) throws {
        guard let number = host.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw TestSupportError("\(host) has no port")
        }
        server = LocalPort(number: number)
        let (port, listener) = try LocalPort.listen()
        (self.host, self.listener) = ("127.0.0.1:\(port.number)", listener)
    }

    /// Starts to accept connections, until the process ends or ``close()`` is called.
    /// - Parameter take: receives each connection, on the listening thread.
    func start(_ take: @Sendable @escaping (RelayedConnection) -> Void) {
        PosixThread.start(name: "relay") { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    Glibc.close(listener)
                    return
                }
                guard let server = server.connection() else {
                    Glibc.close(client)
                    continue
                }
                take(RelayedConnection(client: client, server: server))
            }
        }
    }

    /// Stops accepting connections; existing connections continue.
    func close() { shutdown(listener, Int32(SHUT_RDWR)) }
}

/// The two ends of a connection through a proxy: the client's and the server's.
///
/// Each direction has its own thread.
final class RelayedConnection: Sendable {
    let client: Int32
    let server: Int32
    private let ended = Atomic<Int>(0)

    init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }

    /// Runs each direction on its own thread; if one direction ends, the other direction ends as well.
    func start(toServer: @Sendable @escaping () -> Void, toClient: @Sendable @escaping () -> Void) {
        for (name, carry) in [("to server", toServer), ("to client", toClient)] {
            PosixThread.start(name: name) { [self] in
                carry()
                for file in [client, server] { shutdown(file, Int32(SHUT_RDWR)) }
                // Each direction uses both sockets, so the sockets are closed only after both directions have ended.
                if ended.add(1, ordering: .relaxed).newValue == 2 {
                    for file in [client, server] { Glibc.close(file) }
                }
            }
        }
    }
}
