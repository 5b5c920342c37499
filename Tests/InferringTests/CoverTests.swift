import BSON
import Checking
import Inferring
import ServerSchema
import Testing

/// Tests that the inferred schema accepts at least the share of the documents that the option `cover` states, such as
/// 0.99.
///
/// With a higher cover, the schema accepts all documents that it accepts with a lower one.
@Suite struct CoverTests {
    /// Documents in which fields are missing or have an unusual type, with many different frequencies.
    private static let documents = Case.documents(4_000) { index in
        var fields: [(String, BSONValue)] = []
        for (number, period) in [7, 40, 199, 401, 1_009, 1_999].enumerated() {
            if (index + number) % period != 0 { fields.append(("gap\(number)", "v")) }
            fields.append(("type\(number)", (index * 3 + number) % period == 0 ? .int(1) : .string("s")))
            fields.append(("null\(number)", (index * 7 + number) % period == 0 ? .null : .bool(true)))
        }
        fields.append(("list", [(index % 500 == 0 ? "odd" : 1), 2]))
        fields.append(("inner", ["deep": (index % 800 == 1 ? .null : "d"), "more": ["n": .integer(index)]]))
        return fields
    }

    @Test(arguments: [Dialect.appServices, .jsonSchema], [1, 0.9999, 0.999, 0.995, 0.99, 0.95, 0.8, 0.5, 0.01])
    func itHoldsExactly(_ dialect: Dialect, _ cover: Double) throws {
        let inference = try Case.inference(of: Self.documents, Case.options(dialect, cover: cover))
        let outcome = try Case.outcome(inference, on: Self.documents)
        #expect(outcome.checked == 4_000)
        #expect(Double(outcome.failing) <= 4_000 * (1 - cover) + 1e-6)
        #expect(outcome.isWithinCover)
        if cover < 0.9 { #expect(outcome.failing > 0) }
    }

    @Test(arguments: [Dialect.appServices, .jsonSchema]) func aLowerCoverAcceptsNothingMore(_ dialect: Dialect) throws {
        var refused: Set<Int> = []
        for cover in [1, 0.9999, 0.999, 0.995, 0.99, 0.97, 0.95, 0.9, 0.8, 0.5, 0.01] {
            let inference = try Case.inference(of: Self.documents, Case.options(dialect, cover: cover))
            let now = try Set(Self.documents.indices.filter { try refuses(inference, Self.documents[$0]) })
            #expect(refused.isSubset(of: now), "\(cover)")
            refused = now
        }
    }

    private func refuses(_ inference: Inference, _ document: BSONDocument) throws -> Bool {
        let view = document.view
        return try inference.compiled.check(view) == .certain
    }

    @Test func rareTypesGoFirst() throws {
        let documents = Case.documents(1_000) { index in
            [("rare", index == 5 ? "odd" : 1), ("common", index % 50 == 0 ? "odd" : 1)]
        }
        let all = try Case.inference(of: documents)
        #expect(all.type("rare") == "mixed" && all.type("common") == "mixed")
        let most = try Case.inference(of: documents, Case.options(cover: 0.999))
        #expect(most.type("rare") == "int" && most.type("common") == "mixed")
        #expect(most.required == ["_id", "rare"])
        #expect(try Case.outcome(most, on: documents).failing == 1)
        let fewer = try Case.inference(of: documents, Case.options(cover: 0.97))
        #expect(fewer.type("common") == "int")
        #expect(try Case.outcome(fewer, on: documents).failing == 21)
    }

    @Test func strictCountsWhatMayNotSync() throws {
        let documents = Case.documents([.int(1), .long(1 << 40)])
        var options = Case.options()
        options.isStrict = true
        let inference = try Case.inference(of: documents, options)
        #expect(inference.type("x") == "mixed")
        #expect(try Case.outcome(inference, on: documents).failing == 0)
    }

    @Test func theHeldOutHalfBoundsWhatWasNotSeen() throws {
        // Each document has a field that no other document has, so nothing can be predicted about the next document.
        let odd = Case.documents(400) { index in [("f\(index)", "a"), ("v\(index % 20)", index % 40 < 20 ? 1 : "s")] }
        let same = Case.documents(400) { _ in [("x", "a")] }
        let known = try Case.outcome(try Case.inference(of: same), on: same)
        #expect(known.heldOut.failing == 0)
        #expect((150...250).contains(known.heldOut.documents))
        #expect(known.unseenBound > 0.01 && known.unseenBound < 0.02)
        let unknown = try Case.outcome(try Case.inference(of: odd), on: odd)
        #expect(unknown.failing == 0)
        let lonely = Case.documents(400) { index in
            index % 10 == 0 ? [("x", Case.object([("k\(index)", 1)]))] : [("y", 1)]
        }
        let rare = lonely + [["_id": "a", "y": "text"], ["_id": "b", "y": ["n": 1]]]
        let outcome = try Case.outcome(try Case.inference(of: rare), on: rare)
        #expect(outcome.unseenBound > known.unseenBound)
    }

    /// A held-out document counts as failing if it does not fit the schema made from the other half of the documents.
    ///
    /// The document then counts even if the schema made from all documents accepts it, but it might fail under that
    /// schema.
    @Test func aHeldOutDocumentThatMightStillFailIsMissed() throws {
        /// Returns 400 documents with the fields `f0` to `f19`, which are 1.
        ///
        /// In each of the first 20 documents, a different one of these fields is a string instead.
        func documents(_ value: BSONValue) -> [BSONDocument] {
            Case.documents(400) { index in
                var fields: [(String, BSONValue)] = [("m", index < 20 ? value : "s")]
                for number in 0..<20 { fields.append(("f\(number)", number == index ? "text" : 1)) }
                return fields
            }
        }
        let fitting = try Case.outcome(try Case.inference(of: documents("s")), on: documents("s"))
        #expect(fitting.possible == 0 && fitting.heldOut.failing > 0)
        let regex = documents(.regex(pattern: "a", options: ""))
        let outcome = try Case.outcome(try Case.inference(of: regex), on: regex)
        #expect(outcome.failing == 0 && outcome.possible == 20)
        #expect(outcome.heldOut == fitting.heldOut)
        #expect(outcome.unseenBound == fitting.unseenBound)
    }
}
