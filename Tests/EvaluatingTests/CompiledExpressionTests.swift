import BSON
import Jobs
import Testing

@testable import Evaluating

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

    @Test func anUpdateKeepsThePlacesOfFields() throws {
        let pipeline: [BSONDocument] = [["$set": ["b": "$a", "c": "$$REMOVE", "d": 1]], ["$set": ["e": "$d"]]]
        #expect(try applied(pipeline, ["a": 1, "b": 2, "c": 3, "z": 4]) == ["a": 1, "b": 1, "z": 4, "d": 1, "e": 1])
        var group = SharedFields()
        #expect(CompiledUpdate([["$unset": "a"]], in: &group).map { _ in true } == nil)
        #expect(CompiledUpdate([["$set": ["a.b": 1]]], in: &group).map { _ in true } == nil)
    }

    @Test func anExpressionReadsAnyNumberOfFields() throws {
        let names = (0..<20).map { "f\($0)" }
        let document = BSONDocument(names.enumerated().map { ($1, .integer($0)) })
        #expect(try value(.array(of: names.map { .string("$" + $0) }), document) == .array(of: document.values))
        let lacking: BSONValue = ["$and": .array(of: names.map { ["$eq": [["$type": .string("$" + $0)], "missing"]] })]
        #expect(try value(lacking, document) == false)
        #expect(try value(lacking, ["other": 1]) == true)
    }

    @Test func theFieldsThatAnExpressionReadsAreDistinguishedByTheBytesOfTheirNames() throws {
        let spellings: BSONDocument = ["\u{E9}": 1, "e\u{301}": 2]
        #expect(try value(["$e\u{301}", "$\u{E9}"], spellings) == [2, 1])
    }

    @Test func ofTwoFieldsWithOneNameTheFirstIsRead() throws {
        #expect(try value(["$a", "$b"], ["a": 1, "b": 2, "a": 3]) == [1, 2])
    }

    @Test func aConditionWithoutPartsOrWithOnePartStaysACondition() throws {
        #expect(try value(["$and": [true]], [:]) == true)
        #expect(try value(["$or": [false]], [:]) == false)
        #expect(try value(["$and": ["$a", true]], ["a": 5]) == true)
        #expect(try value(["$or": [["$or": [false, "$a"]], false]], ["a": 5]) == true)
        #expect(try value(["$and": [["$and": ["$a", ["$eq": ["$a", 5]]]]]], ["a": 6]) == false)
    }

    @Test(
        arguments: [
            ("a", "a", true), ("a", "A", false), (1, 1, true), (1, .long(1), false), (.double(0), .double(-0.0), false),
            (.double(.nan), .double(.nan), true), (["x": 1], ["x": 1], true), (["x": 1], ["x": .long(1)], false),
            ([1, "a"], [1, "a"], true), (nil, nil, true),
        ] as [(BSONValue, BSONValue, Bool)])
    func exactComparisonsSeeTypesSignsAndBytes(_ left: BSONValue, _ right: BSONValue, _ areSame: Bool) throws {
        let same = Expression.same(Expression("$a"), Expression("$b"))
        let document: BSONDocument = ["a": left, "b": right]
        #expect(try CompiledExpression(same).holds(for: document.view) == areSame)
    }

    /// A condition that compares a field with a known list checks each level of nesting that the list has, and no more.
    @Test(arguments: 1...5)
    func aKnownListIsComparedExactlyAtItsDeepestLevel(_ levels: Int) throws {
        func nested(_ value: BSONValue) -> BSONDocument {
            let inner = (1..<levels).reduce(value) { inner, level in
                level % 2 == 0 ? .array(of: ["x", inner]) : ["k": inner, "z": []]
            }
            return ["v": .array(of: [nil, inner])]
        }
        for (known, now, areSame) in [
            (1, 1, true), (1, .long(1), false), (.double(0), .double(-0.0), false), ("a", "a", true), ("a", "A", false),
            (.double(.nan), .double(.nan), true), ([], [], true), ([:], [:], true),
        ] as [(BSONValue, BSONValue, Bool)] {
            for isBinary in [false, true] {
                let condition = Expression.all(
                    try Expression.areExactly(["v"], asIn: nested(known), isBinary: isBinary))
                // The server converts doubles to text in a form of its own.
                guard known.type != .double || !isBinary else { continue }
                #expect(
                    try CompiledExpression(condition).holds(for: nested(now).view) == areSame, "\(known) and \(now)")
            }
        }
    }
}

/// Tests that the client applies an update's stages as if it applied them one after another.
@Suite struct CompiledUpdateTests {
    @Test func aStageReadsWhatTheStagesBeforeItWrote() throws {
        let pipeline: [BSONDocument] = [["$set": ["a": "$b"]], ["$set": ["c": "$a"]], ["$set": ["b": 0]]]
        #expect(try applied(pipeline, ["a": 1, "b": 2]) == ["a": 2, "b": 0, "c": 2])
    }

    @Test func aStageMayReadTheWholeDocument() throws {
        let pipeline: [BSONDocument] = [["$set": ["a": 1]], ["$set": ["all": "$$ROOT"]]]
        #expect(try applied(pipeline, ["z": 0]) == ["z": 0, "a": 1, "all": ["z": 0, "a": 1]])
    }

    @Test func aLaterStageThatWritesTheSameFieldWins() throws {
        #expect(try applied([["$set": ["a": 1]], ["$set": ["a": 2, "b": 3]]], ["b": 0, "a": 0]) == ["b": 3, "a": 2])
    }

    @Test func newFieldsFollowInTheOrderOfTheStages() throws {
        let pipeline: [BSONDocument] = [["$set": ["b": 1]], ["$set": ["a": "$x"]], ["$set": ["gone": "$missing"]]]
        #expect(try applied(pipeline, ["gone": 1, "x": 2]) == ["x": 2, "b": 1, "a": 2])
    }
}

/// Returns a document after an update.
private func applied(_ pipeline: [BSONDocument], _ document: BSONDocument) throws -> BSONDocument {
    var group = SharedFields()
    let update = try #require(CompiledUpdate(pipeline, in: &group))
    var frame = group.frame()
    try frame.locate(group, in: document.view)
    return try update.applied(to: document.view, in: &frame)
}

/// Tests expressions that share one frame, as all expressions of a job's phase do.
@Suite struct SharedFieldsTests {
    @Test func oneFrameServesSeveralExpressionsAndOneDocumentAfterAnother() throws {
        var group = SharedFields()
        let sum = CompiledExpression(Expression(["$concat": ["$a", "$b"]]), in: &group)
        let bound = CompiledExpression(
            Expression(["$let": ["vars": ["x": "$c"], "in": ["$concat": ["$$x", "$a"]]]]), in: &group)
        var frame = group.frame()
        for (document, isEqual) in [
            (["a": "1", "b": "2", "c": "1"] as BSONDocument, false), (["c": "2", "b": "2", "a": "2"], true),
            (["b": "2"], true), (["a": "2", "b": "1"], false),
        ] {
            try frame.locate(group, in: document.view)
            let values = try [sum, bound].map { try $0.value(for: document.view) }
            #expect(try sum.holds(for: document.view, in: &frame) == (values[0] != .null))
            #expect(try bound.holds(for: document.view, in: &frame) == (values[1] != .null))
            #expect((values[0] == values[1]) == isEqual)
        }
    }

    @Test func anExpressionReadsOnlyItsOwnFieldsOfTheGroup() {
        var group = SharedFields()
        _ = CompiledExpression(Expression("$a"), in: &group)
        let second = CompiledExpression(Expression("$b"), in: &group)
        #expect(second.mayRead("b"))
        #expect(!second.mayRead("a"))
    }

    @Test func aGroupHasRoomForSixteenFields() {
        var group = SharedFields()
        #expect((0..<16).map { group.index(of: "f\($0)") } == Array(0..<16))
        #expect(group.index(of: "f16") == nil)
        #expect(group.index(of: "f3") == 3)
        #expect(group.index(of: "\u{E9}") == nil)
    }
}
