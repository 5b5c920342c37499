import BSON

/// A fault that affects one request of a program.
package enum RequestFault: Hashable, Sendable, CustomStringConvertible {
    /// The connection breaks before the server receives the request.
    case requestLost
    /// The server executes the request, and the connection breaks before the reply arrives.
    case replyLost
    /// The server refuses the request with this error code.
    case error(Int)
    /// The server executes the request, and its reply has a write concern error with this code.
    case writeConcernError(Int)
    /// The program is killed before the server receives the request.
    case killedBefore
    /// The program is killed after the server has executed the request, and before the reply arrives.
    case killedAfter

    /// The name of the fault in the table of faults that the tests print.
    package var description: String {
        switch self {
        case .requestLost: "request lost"
        case .replyLost: "reply lost"
        case .error(let code): "error \(code)"
        case .writeConcernError(let code): "write concern error \(code)"
        case .killedBefore: "kill -9 before a request"
        case .killedAfter: "kill -9 after a request"
        }
    }

    /// Returns the error that the program gets in place of the server's reply; `nil` if the fault is not `error`.
    /// - Parameter isRetryable: whether the request is a write that the driver may retry.
    func refusal(isRetryable: Bool) -> BSONDocument? {
        guard case .error(let code) = self else { return nil }
        var reply = BSONBuilder()
        reply.append("ok", 0.0)
        reply.append("errmsg", "refused by a test")
        reply.append("code", .integer(code))
        if isRetryable, Self.retryable.contains(code) { reply.append("errorLabels", ["RetryableWriteError"]) }
        return reply.finish()
    }

    /// Returns the server's reply with the fault in it; `nil` if the program gets no reply.
    func changed(_ reply: BSONDocument) -> BSONDocument? {
        switch self {
        case .replyLost, .killedAfter: return nil
        case .writeConcernError(let code):
            var changed = BSONBuilder(continuing: reply)
            changed.append("writeConcernError", ["code": .integer(code), "errmsg": "not met in a test"])
            return changed.finish()
        case .requestLost, .killedBefore, .error: return reply
        }
    }

    /// Some codes of errors that a server labels `RetryableWriteError`, by the specification of retryable writes.
    private static let retryable: Set<Int> = [91, 189, 10_107, 11_600, 11_602, 13_435, 13_436]
}
