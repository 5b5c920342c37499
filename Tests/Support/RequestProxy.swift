import BSON
import Concurrency
package import Glibc
import Synchronization

/// A proxy between one run of a program and a server, which counts the program's requests and can disturb one of them.
///
/// It reads the messages of the wire protocol, which must be neither compressed nor encrypted. It does not count
/// commands that the driver sends by itself, for example to find its servers.
package final class RequestProxy: Sendable {
    private let relay: Relay
    private let fault: RequestFault?
    private let visit: Int
    private let command: String?
    private let state = Mutex(State())

    private struct State {
        var requests = 0
        var hit: String?
        var program: pid_t?
    }

    /// Starts to listen, until the process ends or ``close()`` is called.
    /// - Parameters:
    ///   - host: the server, as `127.0.0.1:port`.
    ///   - visit: the number of the request to which the fault is applied; the first request has the number 1.
    ///   - command: the name of the only command whose requests are counted; `nil` to count all requests.
    ///   - fault: the fault; `nil` to count requests only.
    package init(
        before host: String, at visit: Int = 0, of command: String? = nil, _ fault: RequestFault? = nil
    ) throws {
        (relay, self.fault, self.visit, self.command) = (try Relay(before: host), fault, visit, command)
        relay.start { [self] connection in
            let struck = Struck()
            connection.start { [self] in
                carryRequests(connection, struck)
            } toClient: { [self] in
                carryReplies(connection, struck)
            }
        }
    }

    /// The connection string through the proxy.
    package var uri: String { "mongodb://\(relay.host)/?directConnection=true" }

    /// The number of requests that the proxy has counted so far.
    package var requests: Int { state.withLock { $0.requests } }

    /// The name of the command to which the fault was applied; `nil` if the program ended before that.
    package var hit: String? { state.withLock { $0.hit } }

    /// Sets the process that a fault may kill.
    package func program(is process: pid_t) { state.withLock { $0.program = process } }

    /// Stops accepting connections; existing connections continue.
    package func close() { relay.close() }

    /// The ID of the request that the fault affects; `nil` while the fault affects no request of this connection.
    ///
    /// The fault changes or drops the reply to that request.
    private final class Struck: Sendable {
        let request = Mutex<Int32?>(nil)
    }

    /// Counts a request, and returns whether the fault applies to it.
    private func strikes(_ message: WireMessage) -> Bool {
        guard let name = message.command, !Self.drivers.contains(name.lowercased()),
            command == nil || name == command
        else { return false }
        return state.withLock { state in
            state.requests += 1
            guard fault != nil, state.requests == visit else { return false }
            state.hit = name
            return true
        }
    }

    private static let drivers: Set<String> = ["hello", "ismaster", "ping", "endsessions"]

    private func carryRequests(_ connection: RelayedConnection, _ struck: Struck) {
        while let message = WireMessage(readFrom: connection.client) {
            if let fault, strikes(message) {
                switch fault {
                case .requestLost: return
                case .killedBefore: return kill()
                case .error:
                    let refusal = fault.refusal(isRetryable: message.body?["txnNumber"] != nil)
                    if let refusal { WireMessage(replyTo: message, refusal).write(to: connection.client) }
                    continue
                case .replyLost, .writeConcernError, .killedAfter:
                    struck.request.withLock { $0 = message.requestID }
                }
            }
            guard message.write(to: connection.server) else { return }
        }
    }

    private func carryReplies(_ connection: RelayedConnection, _ struck: Struck) {
        while var message = WireMessage(readFrom: connection.server) {
            if let fault, struck.request.withLock({ $0 == message.responseTo }), let reply = message.body {
                guard let changed = fault.changed(reply) else { return fault == .killedAfter ? kill() : () }
                message = WireMessage(answering: message.responseTo, changed)
            }
            guard message.write(to: connection.client) else { return }
        }
    }

    /// Kills the program once its process ID is known, because its first request may arrive before the test knows the
    /// ID.
    private func kill() {
        while true {
            if let program = state.withLock({ $0.program }) {
                Glibc.kill(program, SIGKILL)
                return
            }
            PosixThread.sleep(.milliseconds(1))
        }
    }
}

/// A message of MongoDB's wire protocol, with the parts that a proxy reads.
struct WireMessage {
    private static let headerSize = 16
    private static let message: Int32 = 2013
    private var bytes: [UInt8]

    /// Reads the next message; `nil` if the connection has ended.
    init?(readFrom file: Int32) {
        guard var bytes = Self.read(Self.headerSize, from: file) else { return nil }
        let size = Int(Self.number(bytes, 0))
        guard size >= Self.headerSize, let rest = Self.read(size - Self.headerSize, from: file) else { return nil }
        bytes += rest
        self.bytes = bytes
    }

    /// Makes a reply to a request.
    init(answering request: Int32, _ body: BSONDocument) {
        bytes = []
        for number in [Int32(21 + body.bytes.count), 0, request, Self.message, 0] {
            for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        bytes += [0] + body.bytes
    }

    init(replyTo request: WireMessage, _ body: BSONDocument) { self.init(answering: request.requestID, body) }

    var requestID: Int32 { Self.number(bytes, 4) }
    var responseTo: Int32 { Self.number(bytes, 8) }

    /// The document of the request or reply; `nil` for the driver's first hello, which has an older message format.
    var body: BSONDocument? {
        guard Self.number(bytes, 12) == Self.message, bytes.count > 25, bytes[20] == 0 else { return nil }
        let size = Int(Self.number(bytes, 21))
        guard size > 4, 21 + size <= bytes.count else { return nil }
        return try? BSONDocument(bytes: Array(bytes[21..<21 + size]))
    }

    /// The message as a router would send it; only the reply to a hello differs from the server's message.
    var asOfRouter: WireMessage {
        // The driver's first hello and the reply to it have an older message format, in which the document begins at
        // another offset.
        let start = Self.number(bytes, 12) == Self.message ? 21 : 36
        guard bytes.count > start + 4, let reply = try? BSONDocument(bytes: Array(bytes[start...])),
            reply["maxWireVersion"] != nil, let elements = try? reply.elements()
        else { return self }
        let ofSets: Set = [
            "setName", "setVersion", "hosts", "primary", "me", "secondary", "electionId", "lastWrite",
            "topologyVersion",
        ]
        let body = BSONDocument(
            elements.filter { !ofSets.contains($0.name) }.map { ($0.name, $0.value) } + [("msg", "isdbgrid")])
        var message = self
        message.bytes = Array(bytes[..<start]) + body.bytes
        for place in 0..<4 { message.bytes[place] = UInt8(truncatingIfNeeded: message.bytes.count >> (8 * place)) }
        return message
    }

    /// The name of the command in a request.
    var command: String? { (try? body?.elements())?.first?.name }

    /// Sends the message, and returns whether that succeeded.
    @discardableResult
    func write(to file: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes {
                unsafe send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func read(_ size: Int, from file: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: size)
        guard size > 0 else { return bytes }
        let count = unsafe recv(file, &bytes, size, Int32(MSG_WAITALL))
        return count == size ? bytes : nil
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int32 {
        (0..<4).reduce(0) { $0 | Int32(bytes[offset + $1]) << (8 * Int32($1)) }
    }
}
