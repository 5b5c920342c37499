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

    /// Where it listens, as a connection string names it.
    package let host: String
    private let server: LocalPort
    private let listener: Int32
    private let faults: Faults
    private let state = Mutex(Tally())

    /// Begins to listen, until the process ends or ``close()``.
    /// - Parameter host: the server, as `127.0.0.1:port`.
    package init(before host: String, _ faults: Faults) throws {
        guard let number = host.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw TestSupportError("\(host) has no port")
        }
        server = LocalPort(number: number)
        let (port, file) = try LocalPort.listen()
        (self.host, listener, self.faults) = ("127.0.0.1:\(port.number)", file, faults)
        PosixThread.start(name: "link") { [self] in
            while true {
                let client = accept(listener, nil, nil)
                if client >= 0 { take(client) } else if errno != EINTR && errno != ECONNABORTED { return }
            }
        }
    }

    /// Takes no more connections.
    package func close() { shutdown(listener, Int32(SHUT_RDWR)) }

    /// What happened so far.
    package var tally: Tally { state.withLock { $0 } }

    private func take(_ client: Int32) {
        guard let server = server.connection() else {
            Glibc.close(client)
            return
        }
        state.withLock { $0.connections += 1 }
        let room = Room(faults.cutAfter.map { Int.random(in: $0) })
        PosixThread.start(name: "to server") { [self] in carry(from: client, to: server, room) }
        PosixThread.start(name: "to client") { [self] in carry(from: server, to: client, room) }
    }

    /// What a connection may still carry, and how many of its two directions are over.
    private final class Room: Sendable {
        private let state: Mutex<(bytes: Int?, ended: Int)>

        init(_ bytes: Int?) { state = Mutex((bytes, 0)) }

        /// Whether so many more bytes go through.
        func take(_ count: Int) -> Bool {
            state.withLock { state in
                state.bytes = state.bytes.map { $0 - count }
                return state.bytes.map { $0 >= 0 } ?? true
            }
        }

        /// Whether both directions are over now.
        func end() -> Bool {
            state.withLock { state in
                state.ended += 1
                return state.ended == 2
            }
        }
    }

    private func carry(from source: Int32, to target: Int32, _ room: Room) {
        var bytes = [UInt8](repeating: 0, count: faults.pieceSize)
        while true {
            let count = unsafe recv(source, &bytes, bytes.count, 0)
            guard count > 0 else { break }
            guard room.take(count) else {
                state.withLock { $0.cuts += 1 }
                break
            }
            if faults.delay > .zero { PosixThread.sleep(faults.delay) }
            guard unsafe send(target, bytes, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        for file in [source, target] { shutdown(file, Int32(SHUT_RDWR)) }
        // The other direction still reads from them until then.
        if room.end() { for file in [source, target] { Glibc.close(file) } }
    }
}
