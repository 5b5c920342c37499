import BSON
import Inferring
import Testing

/// Tests that `schema infer` reports data that looks like a mistake.
@Suite struct SuspicionTests {
    private func suspicions(_ values: [BSONValue]) throws -> [Suspicion] {
        try #require(Case.inference(of: Case.documents(values)).summary("x")).suspicions
    }

    @Test func typesThatAreRareOrMixed() throws {
        #expect(try suspicions(Array(repeating: 1, count: 500) + ["s"]) == [.rareType])
        #expect(try suspicions([1, "s"]) == [.mixedTypes])
        #expect(try suspicions([.int(1), .double(0.5)]) == [.mixedNumbers])
        #expect(try suspicions([.double(1), .double(-3)]) == [.wholeDoubles])
        #expect(try suspicions([.null]) == [.onlyNull])
        #expect(try suspicions([.int(1), .null]).isEmpty)
        #expect(try suspicions([.binary(subtype: 3, bytes: [1])]) == [.binarySubtype])
    }

    @Test(arguments: [
        (["2026-11-22", "2026-11-22T02:14:06Z"], [Suspicion.datesAsStrings]),
        (["6f1cba40-0000-4000-8000-00805f9b34fb"], [.uuidsAsStrings]),
        (["64f1c0de5ea51de5ca1ab1e0"], [.objectIDsAsStrings]), (["12", "-1.5"], [.numbersAsStrings]),
        (["2026-11-2x", "64f1c0de5ea51de5ca1ab1eg", "1.2.3", "-", ""], []),
    ]) func stringsThatReadLikeOtherTypes(_ texts: [String], _ expected: [Suspicion]) throws {
        #expect(try suspicions(texts.map { .string($0) }) == expected)
    }

    @Test func aFieldThatHardlyAnyDocumentHas() throws {
        let documents = Case.documents(2_000) { $0 == 7 ? [("emial", "a")] : [("email", "a")] }
        let inference = try Case.inference(of: documents)
        #expect(inference.summary("emial")?.suspicions == [.rareField])
        #expect(inference.summary("email")?.suspicions == [])
    }
}
