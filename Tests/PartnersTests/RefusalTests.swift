import BSON
import Testing

@testable import Jobs
@testable import Partners

/// Tests how the state database stores the reason why a mirror cannot carry a document over to the other collection.
@Suite struct RefusalTests {
    private static let reasons: [Refusal.Reason] = [
        .id, .step(.rounded), .lossy(["a", "b.c"]), .server(11_000), .damaged,
    ]

    private func record(_ reason: Refusal.Reason) -> BSONDocument {
        BSONDocument([("reason", .string("\(reason)"))] + reason.fields)
    }

    @Test(arguments: reasons) func aReasonIsReadAsItWasWritten(_ reason: Refusal.Reason) {
        #expect(Refusal.Reason(record(reason)) == reason)
        #expect(Self.reasons.filter(reason.isSame).count == 1)
    }

    /// An earlier version stored a reason as a text with the server's error code.
    ///
    /// The program reads such a text as the same reason.
    @Test(arguments: reasons) func aReasonOfAnEarlierVersionIsTheSame(_ reason: Refusal.Reason) {
        let code: BSONValue = if case .server(let code) = reason { .integer(code) } else { .null }
        let read = Refusal.Reason(["reason": .string("\(reason)"), "code": code])
        #expect(read.isSame(as: reason) && reason.isSame(as: read))
        #expect("\(read)" == "\(reason)")
        #expect(Self.reasons.filter(read.isSame).count == 1)
    }
}
