import BSON
import Evaluating
import Jobs
import Testing

/// Tests the values of expressions by examples; `EvaluatorConformanceTests` compares the values with a server's.
@Suite struct CompiledExpressionTests {
    private func value(_ expression: BSONValue, _ document: BSONDocument) throws(NotEvaluated) -> BSONValue? {
        try CompiledExpression(Expression(expression)).value(for: document.view)
    }

    @Test func pathsLeadIntoObjectsAndIntoEachObjectOfAList() throws {
        let document: BSONDocument = ["a": ["b": 1], "l": [["b": 2], 3, [["b": 4]], ["c": 5], ["b": 6]]]
        #expect(try value("$a.b", document) == 1)
        #expect(try value("$a.c", document) == nil)
        #expect(try value("$a.b.c", document) == nil)
        #expect(try value("$l.b", document) == [2, 6])
    }

    @Test func aMissingValueIsAbsentInAnObjectAndNullInAList() throws {
        #expect(try value(["x": "$a", "y": "$b"], ["a": 1]) == ["x": 1])
        #expect(try value(["$a", "$b"], ["a": 1]) == [1, nil])
    }

    @Test func currentIsTheElementOfAMap() throws {
        let doubled: BSONValue = ["$map": ["input": "$l", "as": "CURRENT", "in": ["$concat": ["$n", "$$ROOT.s"]]]]
        #expect(try value(doubled, ["l": [["n": "a"], ["n": "b"]], "s": "!"]) == ["a!", "b!"])
    }

    @Test func conditionsAreAskedInTheirOrderUpToTheFirstThatDecides() throws {
        // The second condition would cause an error, but is not evaluated if the first one is false.
        let guarded: BSONValue = [
            "$and": [["$eq": [["$type": "$a"], "string"]], ["$gt": [["$strLenBytes": "$a"], 2]]]
        ]
        #expect(try value(guarded, ["a": 5]) == false)
        #expect(try value(guarded, ["a": "abc"]) == true)
    }

    @Test func aRepeatedNameWouldBeMerged() throws {
        let merge: BSONValue = [
            "$not": [["$eq": [["$bsonSize": "$$ROOT"], ["$bsonSize": ["$mergeObjects": ["$$ROOT"]]]]]]
        ]
        #expect(try value(merge, ["a": 1, "b": 2]) == false)
        #expect(try value(merge, ["a": 1, "b": 2, "a": 3]) == true)
        let many = (0..<300).map { ("field \($0 * 7919)", BSONValue.integer($0)) }
        #expect(try value(merge, BSONDocument(many)) == false)
        #expect(try value(merge, BSONDocument(many + [("field 7919", 0)])) == true)
        let oddKeys: BSONValue = .array(["5": 1, "5": 2])
        let bytes: BSONValue = [
            "$not": [["$eq": [["$toHashedIndexKey": "$$ROOT"], ["$toHashedIndexKey": ["$mergeObjects": ["$$ROOT"]]]]]]
        ]
        #expect(try value(bytes, ["a": [1, 2]]) == false)
        #expect(try value(bytes, ["a": oddKeys]) == true)
    }

    @Test func namesAreDistinguishedByTheirBytes() throws {
        let spellings: BSONDocument = ["\u{E9}": 1, "e\u{301}": 2]
        #expect(
            try value(["$mergeObjects": ["$a", ["x": 3]]], ["a": .object(spellings)])
                == .object(spellings.appending("x", 3)))
        #expect(
            try value(["$arrayToObject": ["$objectToArray": "$a"]], ["a": .object(spellings)]) == .object(spellings))
    }

    static let unknown: [(BSONValue, NotEvaluated.Reason)] = [
        (["$dateToString": ["date": "$a"]], .operation("$dateToString")), ("$$other", .operation("$$other")),
        (["$toString": "$half"], .version), (["$strLenBytes": "$a"], .failure),
    ]

    @Test(arguments: unknown) func documentsThatTheClientCannotEvaluateAreReported(
        _ expression: BSONValue, _ reason: NotEvaluated.Reason
    ) {
        #expect(throws: NotEvaluated(reason)) { try value(expression, ["a": 5, "half": 0.5]) }
    }

    @Test func aCollationComparesTexts() throws {
        let compared = CompiledExpression(Expression(["$eq": ["$a", "x"]]), isCollated: true)
        #expect(throws: NotEvaluated(.collation)) { try compared.holds(for: (["a": "X"] as BSONDocument).view) }
        #expect(try !compared.holds(for: (["a": 5] as BSONDocument).view))
    }

    @Test func anUpdateKeepsThePlacesOfFields() throws {
        let update = try #require(
            CompiledUpdate([["$set": ["b": "$a", "c": "$$REMOVE", "d": 1]], ["$set": ["e": "$d"]]]))
        let after = try update.applied(to: (["a": 1, "b": 2, "c": 3, "z": 4] as BSONDocument).view)
        #expect(after == ["a": 1, "b": 1, "z": 4, "d": 1, "e": 1])
        #expect(CompiledUpdate([["$unset": "a"]]).map { _ in true } == nil)
        #expect(CompiledUpdate([["$set": ["a.b": 1]]]).map { _ in true } == nil)
    }
}
