import Concurrency
import Glibc
import Synchronization

/// A TCP proxy before a server that does to its connections what a bad network does.
package final class BadLink: Sendable {
    /// What happens to what goes through.
    package struct Faults: Sendable {
        /// A connection is cut after so many bytes of both directions, at random; `nil` for never.
        package var cutAfter: ClosedRange<Int>?
        /// How long each piece is held back.
        package var delay: Duration
        /// The most that a piece has.
        package var pieceSize: Int

        /// Joins them.
        package init(cutAfter: ClosedRange<Int>? = nil, delay: Duration = .zero, pieceSize: Int = 65_536) {
            (self.cutAfter, self.delay, self.pieceSize) = (cutAfter, delay, pieceSize)
        }
    }

    /// What happened so far.
    package struct Tally: Sendable {
        /// Connections that were taken.
        package var connections = 0
        /// Connections that were cut.
        package var cuts = 0
    }

    private let relay: Relay
    private let faults: Faults
    private let state = Mutex(Tally())

    /// Begins to listen, until the process ends or ``close()``.
    /// - Parameter host: the server, as `127.0.0.1:port`.
    package init(before host: String, _ faults: Faults) throws {
        (relay, self.faults) = (try Relay(before: host), faults)
        relay.start { [self] in take($0) }
    }

    /// Where it listens, as a connection string names it.
    package var host: String { relay.host }

    /// Takes no more connections.
    package func close() { relay.close() }

    /// What happened so far.
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

    /// What a connection may still carry.
    private final class Room: Sendable {
        private let bytes: Mutex<Int?>

        init(_ bytes: Int?) { self.bytes = Mutex(bytes) }

        /// Whether so many more bytes go through.
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
