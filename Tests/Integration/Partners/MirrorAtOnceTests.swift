import BSON
import Foundation
import Mongo
import TestSupport
import Testing

/// A mirror carries over all changes that clients make in one transaction over the original and the partner collection,
/// or in one large command.
@Suite(.fencedDeletes) struct MirrorAtOnceTests {
    /// A client changes documents of both collections in one transaction.
    ///
    /// A pair is an original and its counterpart in the partner collection. The client changes one document of most
    /// pairs, but both documents of pair 3, which is a conflict.
    @Test func aTransactionOverBothSidesGoesOver() async throws {
        try await PartnerCase.withCopy { test in
            let (tasks, partners) = (test.database.namespace("Task"), test.database.namespace("TaskV2"))
            try await test.database.pool.withClient { client throws(MongoError) in
                let session = try client.startSession()
                try session.startTransaction(commitLimit: .seconds(10))
                let options = try session.options()
                func title(_ number: Int, _ text: BSONValue) -> UpdateStatement {
                    UpdateStatement(PartnerCase.source(number), ["$set": ["title": text]])
                }
                func name(_ number: Int, _ text: BSONValue) -> UpdateStatement {
                    UpdateStatement(PartnerCase.target(number), ["$set": ["name": text]])
                }
                try client.collection(tasks).update([title(1, "original"), title(3, "original")], options: options)
                try client.collection(partners).update([name(2, "partner"), name(3, "partner")], options: options)
                try client.collection(tasks).delete([DeleteStatement(PartnerCase.source(4))], options: options)
                try client.collection(partners).delete([DeleteStatement(PartnerCase.target(0))], options: options)
                try session.commitTransaction()
            }
            let report = try await test.mirrored()
            #expect(report["conflicts"] == 1, "\(report)")
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(1)).first?["name"] == "original")
            #expect(try await test.database.documents("Task", PartnerCase.source(2)).first?["title"] == "partner")
            // Both changes of pair 3 have the same time. Either may win, but both collections must show the same one.
            let winner = try await test.database.documents("Task", PartnerCase.source(3)).first?["title"]
            #expect(winner == "original" || winner == "partner")
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(3)).first?["name"] == winner)
            #expect(try await test.database.count("Task") == 3)
            #expect(try await test.differences()["difference_count"] == 0)
            let rest = try await test.mirrored()
            #expect(rest["to_target"] == 0 && rest["to_source"] == 0, "\(rest)")
        }
    }

    /// One command deletes ten thousand originals, and another deletes ten thousand documents of the partner
    /// collection.
    ///
    /// The test kills the mirror while it carries the deletes over.
    @Test func tenThousandDeletesOnEachSideGoOver() async throws {
        let (deleted, kept) = (10_000, 500)
        try await PartnerCase.withCopy(
            PartnerCase.renaming,
            load: { test in
                try await test.database.fill("Task", count: deleted * 2 + kept) {
                    ["_id": .integer($0), "title": .string("task \($0)")]
                }
            },
            { test in
                for (collection, first) in [("Task", 0), ("TaskV2", deleted)] {
                    let range: BSONValue = ["$gte": .integer(first), "$lt": .integer(first + deleted)]
                    try await test.database.run([
                        "delete": .string(collection), "deletes": [["q": ["_id": range], "limit": 0]],
                    ])
                }
                #expect(try await test.run("mirror", "--once", fault: "before-commit:7:kill").wasKilled)
                try await test.endLease()
                let report = try await test.mirrored()
                #expect(report["conflicts"] == 0 && report["refused"] == 0, "\(report)")
                for collection in ["Task", "TaskV2"] {
                    #expect(try await test.database.count(collection) == kept)
                    let lost: BSONDocument = ["_id": ["$gte": .integer(deleted * 2)]]
                    #expect(try await test.database.count(collection, lost) == kept)
                }
                let rest = try await test.mirrored()
                #expect(rest["to_target"] == 0 && rest["to_source"] == 0, "\(rest)")
            })
    }
}
