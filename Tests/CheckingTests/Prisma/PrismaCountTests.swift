import BSON
import Checking
import ServerSchema
import Testing

/// Tests the count of the documents that a Prisma client reads but never finds.
@Suite struct PrismaCountTests {
    private func tally(_ active: ActiveSchema = .notAsked, keepsContributions: Bool = false) throws -> Tally {
        var options = Tally.Options()
        options.keepsContributions = keepsContributions
        return Tally(
            try CompiledSchema(prisma: "k String @db.ObjectId\n n Int"), active: active, options: options)
    }

    private static let unfound: BSONDocument = ["_id": 1, "k": "x", "n": 1]
    private static let unread: BSONDocument = ["_id": 2, "k": "x", "n": "1"]

    @Test func aDocumentThatCannotBeReadIsNoneThatIsNeverFound() throws {
        var tally = try tally(keepsContributions: true)
        try tally.add(Self.unfound.view)
        let contribution = tally.lastContribution
        try tally.add(Self.unread.view)
        #expect(tally.counts.certain == 2 && tally.counts.unfound.all == 1)
        var other = try self.tally()
        try other.add(Self.unfound.view)
        other.merge(tally)
        #expect(other.counts.certain == 3 && other.counts.unfound.all == 2)
        tally.take(back: contribution, of: 1)
        #expect(tally.counts.certain == 1 && tally.counts.unfound.all == 0)
    }

    @Test func withAnActiveSchemaNewFailuresAreCountedApart() throws {
        let strings = try CompiledSchema(prisma: "k String\n n Int")
        var newly = try tally(.covered(strings))
        try newly.add(Self.unfound.view)
        #expect(newly.counts.unfound.new == 1 && newly.counts.changes?.newlyFailing == 1)
        var already = try tally(.covered(try CompiledSchema(prisma: "k String @db.ObjectId\n n Int")))
        try already.add(Self.unfound.view)
        #expect(
            already.counts.unfound.all == 1 && already.counts.unfound.new == 0
                && already.counts.changes?.alreadyFailing == 1)
    }
}
