import BSON

/// What happens to one request of a program.
package enum RequestFault: Hashable, Sendable, CustomStringConvertible {
    /// The connection breaks before the server has the request.
    case requestLost
    /// The server does what it is asked, and the connection breaks before its reply is there.
    case replyLost
    /// The server refuses it with that code.
    case error(Int)
    /// The server does what it is asked, and says that the write concern was not met, with that code.
    case writeConcernError(Int)
    /// The program is killed before the server has the request.
    case killedBefore
    /// The program is killed when the server has done what it was asked, before the reply is there.
    case killedBehind

    /// In a table of faults.
    package var description: String {
        switch self {
        case .requestLost: "request lost"
        case .replyLost: "reply lost"
        case .error(let code): "error \(code)"
        case .writeConcernError(let code): "write concern error \(code)"
        case .killedBefore: "kill -9 before a request"
        case .killedBehind: "kill -9 behind a request"
        }
    }

    /// A reply in place of the server's; `nil` when the server is asked.
    /// - Parameter isRetryable: whether the request is a write that the driver may send again.
    func refusal(isRetryable: Bool) -> BSONDocument? {
        guard case .error(let code) = self else { return nil }
        var reply = BSONBuilder()
        reply.append("ok", 0.0)
        reply.append("errmsg", "refused by a test")
        reply.append("code", .integer(code))
        if isRetryable, Self.retryable.contains(code) { reply.append("errorLabels", ["RetryableWriteError"]) }
        return reply.finish()
    }

    /// The server's reply as the program is to see it; `nil` when it gets none.
    func changed(_ reply: BSONDocument) -> BSONDocument? {
        switch self {
        case .replyLost, .killedBehind: return nil
        case .writeConcernError(let code):
            var changed = BSONBuilder(continuing: reply)
            changed.append("writeConcernError", ["code": .integer(code), "errmsg": "not met in a test"])
            return changed.finish()
        case .requestLost, .killedBefore, .error: return reply
        }
    }

    /// The codes to which a server adds the label: of the retryable writes' specification.
    private static let retryable: Set<Int> = [91, 189, 10_107, 11_600, 11_602, 13_435, 13_436]
}
