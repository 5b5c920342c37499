import Concurrency
import Glibc
import Synchronization

/// A TCP proxy for a server that delays and cuts connections, as a bad network does.
package final class BadLink: Sendable {
    /// The faults of the proxy, which affect each connection.
    package struct Faults: Sendable {
        /// The range for the random number of bytes after which a connection is cut; `nil` to cut no connection.
        ///
        /// The bytes of both directions count.
        package var cutAfter: ClosedRange<Int>?
        /// The delay before the proxy passes on each part of the data.
        package var delay: Duration
        /// The largest number of bytes that the proxy passes on at once.
        package var pieceSize: Int

        /// Makes a set of faults.
        package init(cutAfter: ClosedRange<Int>? = nil, delay: Duration = .zero, pieceSize: Int = 65_536) {
            (self.cutAfter, self.delay, self.pieceSize) = (cutAfter, delay, pieceSize)
        }
    }

    /// The number of connections that the proxy has accepted so far, and the number of its cuts.
    package struct Tally: Sendable {
        /// The number of connections that the proxy has accepted.
        package var connections = 0
        /// The number of cuts; a connection counts twice if both of its directions are cut.
        package var cuts = 0
    }

    private let relay: Relay
    private let faults: Faults
    private let state = Mutex(Tally())

    /// Starts to listen, until the process ends or ``close()`` is called.
    /// - Parameter host: the server, as `127.0.0.1:port`.
    package init(before host: String, _ faults: Faults) throws {
        (relay, self.faults) = (try Relay(before: host), faults)
        relay.start { [self] in take($0) }
    }

    /// The proxy's address, as in a connection string.
    package var host: String { relay.host }

    /// Stops accepting connections; existing connections continue.
    package func close() { relay.close() }

    /// The number of connections that the proxy has accepted so far, and the number of times that it has cut one.
    package var tally: Tally { state.withLock { $0 } }

    private func take(_ connection: RelayedConnection) {
        state.withLock { $0.connections += 1 }
        let room = Room(faults.cutAfter.map { Int.random(in: $0) })
        let (client, server) = (connection.client, connection.server)
        connection.start { [self] in
            carry(from: client, to: server, room)
        } toClient: { [self] in
            carry(from: server, to: client, room)
        }
    }

    /// The number of bytes that a connection can still pass on before it is cut.
    private final class Room: Sendable {
        private let bytes: Mutex<Int?>

        init(_ bytes: Int?) { self.bytes = Mutex(bytes) }

        /// Counts more bytes, and returns whether the connection can still pass them on.
        func take(_ count: Int) -> Bool {
            bytes.withLock { left in
                left = left.map { $0 - count }
                return left.map { $0 >= 0 } ?? true
            }
        }
    }

    private func carry(from source: Int32, to target: Int32, _ room: Room) {
        var bytes = [UInt8](repeating: 0, count: faults.pieceSize)
        while true {
            let count = unsafe recv(source, &bytes, bytes.count, 0)
            guard count > 0 else { return }
            guard room.take(count) else { return state.withLock { $0.cuts += 1 } }
            if faults.delay > .zero { PosixThread.sleep(faults.delay) }
            guard unsafe send(target, bytes, count, Int32(MSG_NOSIGNAL)) == count else { return }
        }
    }
}
