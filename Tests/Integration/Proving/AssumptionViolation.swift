import BSON

/// A server's behaviour that contradicts an assumption of the program, as a proxy imitates it.
struct AssumptionViolation: Sendable, CustomStringConvertible {
    /// The name of the assumption.
    let name: String
    /// Returns the reply that the program receives, from the request and the server's reply.
    var change: @Sendable (BSONDocument, BSONDocument) throws -> BSONDocument = { $1 }
    /// Returns the reply to a request that the server does not receive; `nil` to pass the request on.
    var answer: @Sendable (BSONDocument) -> BSONDocument? = { _ in nil }

    var description: String { name }

    /// A violation of each assumption.
    static let all = [
        AssumptionViolation(name: "refused-statement") { _, reply in
            guard reply["writeErrors"] != nil else { return reply }
            return try reply.replacing("writeErrors", with: [["index": 0, "code": 241, "errmsg": "by a test"]])
        },
        AssumptionViolation(name: "changed-document") { _, reply in
            reply["code"] == 112 ? ["ok": 1, "n": 2, "nModified": 2] : reply
        },
        AssumptionViolation(name: "snapshot-read") { request, reply in
            guard request["find"] != nil, request["autocommit"] != nil else { return reply }
            return try reply.changingBatch { try $0["n"] == nil ? $0 : $0.replacing("n", with: 100) }
        },
        AssumptionViolation(name: "fenced-record") { request, reply in
            guard request["update"] != nil, request["autocommit"] != nil else { return reply }
            return reply["n"] == 0 ? ["ok": 1, "n": 1, "nModified": 1] : reply
        },
        AssumptionViolation(name: "killed-session", answer: { $0["killSessions"] == nil ? nil : ["ok": 1] }),
        AssumptionViolation(name: "repeated-commit") { request, reply in
            request["commitTransaction"] != nil && reply["code"] == 251 ? ["ok": 1] : reply
        },
        AssumptionViolation(name: "majority-wait") { request, reply in
            guard request["aggregate"] != nil else { return reply }
            return try reply.changingBatch { try $0["seq"] == nil ? $0 : $0.replacing("seq", with: 0) }
        },
        AssumptionViolation(name: "literal-pipeline") { _, reply in
            try reply.changingBatch { try $0["gone"] != nil || $0["new"] == nil ? $0 : $0.removing("z") }
        },
        AssumptionViolation(name: "renamed-collection") { _, reply in
            reply["code"] == 361 ? Self.nothing : reply
        },
        AssumptionViolation(name: "record-order") { _, reply in
            reply["code"] == 211 ? Self.nothing : reply
        },
        AssumptionViolation(name: "change-stream-session") { _, reply in
            try reply.changingBatch { try $0["lsid"] == nil ? $0 : $0.removing("lsid") }
        },
    ]

    /// The reply to a read that finds nothing, and to a write that changes nothing.
    private static let nothing: BSONDocument = [
        "ok": 1, "n": 0, "nModified": 0, "cursor": ["id": .long(0), "ns": "test.none", "firstBatch": []],
    ]
}

extension BSONDocument {
    fileprivate func changingBatch(_ change: (BSONDocument) throws -> BSONDocument) throws -> BSONDocument {
        try changingBatches { try $0.map(change) }
    }

    /// Returns a reply with other documents in its batch, if it has one.
    func changingBatches(_ change: ([BSONDocument]) throws -> [BSONDocument]) throws -> BSONDocument {
        guard var cursor = self["cursor"]?.document else { return self }
        for name in ["firstBatch", "nextBatch"] {
            guard let documents = cursor[name]?.document?.values.compactMap(\.document) else { continue }
            cursor = try cursor.replacing(name, with: .array(of: change(documents).map { .object($0) }))
        }
        return try replacing("cursor", with: .object(cursor))
    }
}
