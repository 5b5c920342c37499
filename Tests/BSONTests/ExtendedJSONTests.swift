import BSON
import Testing

@Suite struct ExtendedJSONTests {
    @Test func canonicalTextGivesTheSameBytesAgain() throws {
        let document = BSONDocument(Samples.everyType.map { ($0.type.description, $0) })
        #expect(try BSONDocument(extendedJSON: document.extendedJSON()) == document)
    }

    @Test(arguments: Samples.everyType) func soDoesTheTextOfOneValue(_ value: BSONValue) throws {
        #expect(try BSONValue(extendedJSON: value.extendedJSON()) == value)
    }

    static let forms: [(BSONValue, canonical: String, relaxed: String)] = [
        (5, #"{ "$numberInt" : "5" }"#, "5"),
        (.long(5), #"{ "$numberLong" : "5" }"#, "5"),
        (.double(1), #"{ "$numberDouble" : "1.0" }"#, "1.0"),
        (.double(-0.0), #"{ "$numberDouble" : "-0.0" }"#, "-0.0"),
        (.double(0.1), #"{ "$numberDouble" : "0.10000000000000000555" }"#, "0.10000000000000000555"),
        (.double(.infinity), #"{ "$numberDouble" : "Infinity" }"#, #"{ "$numberDouble" : "Infinity" }"#),
        (.double(.nan), #"{ "$numberDouble" : "NaN" }"#, #"{ "$numberDouble" : "NaN" }"#),
        (
            .date(milliseconds: 1), #"{ "$date" : { "$numberLong" : "1" } }"#,
            #"{ "$date" : "1970-01-01T00:00:00.001Z" }"#
        ),
        (
            .date(milliseconds: -1), #"{ "$date" : { "$numberLong" : "-1" } }"#,
            #"{ "$date" : { "$numberLong" : "-1" } }"#
        ),
        ("a\u{0}\n\"é𝄞", #""a\u0000\n\"é𝄞""#, #""a\u0000\n\"é𝄞""#),
        (["$in": [1, nil]], #"{ "$in" : [ { "$numberInt" : "1" }, null ] }"#, #"{ "$in" : [ 1, null ] }"#),
        (
            .binary(subtype: 0, bytes: []), #"{ "$binary" : { "base64" : "", "subType" : "00" } }"#,
            #"{ "$binary" : { "base64" : "", "subType" : "00" } }"#
        ),
    ]

    @Test(arguments: forms)
    func aValueHasTwoForms(_ form: (value: BSONValue, canonical: String, relaxed: String)) throws {
        #expect(try form.value.extendedJSON() == form.canonical)
        #expect(try form.value.extendedJSON(.relaxed) == form.relaxed)
    }

    @Test func plainTextIsReadToo() throws {
        let filter = try BSONDocument(extendedJSON: #" {"age": {"$gt": 1.5}, "tags": ["a", true, null], "age": 3} "#)
        #expect(filter == ["age": ["$gt": 1.5], "tags": ["a", true, nil], "age": 3])
        #expect(
            try BSONValue(extendedJSON: #"{"$date": "2020-01-01T00:00:00Z"}"#) == .date(milliseconds: 1_577_836_800_000)
        )
    }

    @Test(arguments: [
        ("", "the text ends too early"), ("  ", "the text ends too early"), (#"{"a": 1"#, "the text ends too early"),
        (#"{"a": "}"#, "the text ends too early"), ("[1]", "no document at position 0"),
        ("7", "no document at position 0"),
        (#"{"a": 1} {"b": 2}"#, "more text after the document at position 9"),
        (#"{"a": 1}}"#, "more text after the document at position 8"),
        (#"{"a": secret}"#, "special expected at position 6"), (#"{"a": 1,}"#, "trailing comma at position 8"),
        (#"{"a": {"$oid": "secret"}}"#, #"Invalid input string "…", looking for OID"#),
        (#"{"a": 1e400}"#, #"Number "…" is out of range"#), (#"{"a\u0000b": 1}"#, "invalid bytes in UTF8 string"),
    ]) func otherTextIsRefusedWithoutQuotingIt(_ text: String, _ detail: String) {
        #expect(throws: BSONError(.invalidJSON, at: 0, detail: detail)) { _ = try BSONDocument(extendedJSON: text) }
    }

    @Test(arguments: [
        (#"1, "w": 2"#, "more than one value"), ("1} {", "more text after the document at position 3"),
        ("", "value expected at position 0"), ("[1, x]", "special expected at position 4"),
    ]) func oneValueIsOneValue(_ text: String, _ detail: String) {
        #expect(throws: BSONError(.invalidJSON, at: 0, detail: detail)) { _ = try BSONValue(extendedJSON: text) }
    }

    @Test func valuesWithoutAFormAreRefused() throws {
        let text = try BSONDocument(bytes: raw(element(0x02, "x", int32(2) + [0xFF, 0])))
        #expect(throws: BSONError(.notPrintable, at: 0)) { try text.extendedJSON() }
        let binary: BSONDocument = ["old": .binary(subtype: 2, bytes: [9, 0, 0, 0, 1])]
        #expect(throws: BSONError(.notPrintable, at: 0)) { try binary.extendedJSON() }
        let damaged = try BSONDocument(bytes: raw(element(0x08, "x", [2])))
        #expect(throws: BSONError(.invalidBool, at: 7)) { try damaged.extendedJSON() }
    }

    @Test func nestingHasALimitInsteadOfAnEllipsis() throws {
        #expect(try !nested(200).extendedJSON().contains("..."))
        #expect(throws: BSONError.self) { try nested(201).extendedJSON() }
        #expect(try BSONDocument(extendedJSON: nested(98).extendedJSON()) == nested(98))
    }

    @Test func anOperatorForTypesIsNotBinaryData() throws {
        func expect(_ text: String, _ document: BSONDocument) throws {
            #expect(try BSONDocument(extendedJSON: text) == document)
        }
        try expect(#"{"a": {"$type": "double"}}"#, ["a": ["$type": "double"]])
        try expect(#"{"$type": ["array", 4], "b": 1}"#, ["$type": ["array", 4], "b": 1])
        try expect(
            #"{"$nor": [{ "$type" : "date", "$ne": {"$date": 5}}, {"a": {"$not": {"$type": 4}}}]}"#,
            ["$nor": [["$type": "date", "$ne": .date(milliseconds: 5)], ["a": ["$not": ["$type": 4]]]]])
        let text = #"{"$type": "array"}, \"$type\""#
        let document: BSONDocument = ["a": ["$type": "array"], "b": .string(text), "$type": 5]
        try expect(document.extendedJSON(.relaxed), document)
        let binary: BSONValue = .binary(subtype: 5, bytes: [1])
        try expect(
            #"{"a": {"$type": "05", "$binary": "AQ=="}, "b": {"$type": "bool"}}"#,
            ["a": binary, "b": ["$type": "bool"]])
    }

    @Test func errorsThatLibBSONNamesWronglyAreRefused() throws {
        let id = ObjectID(high: 1, low: 2)
        for value: BSONValue in [.javascript("f()"), .javascriptWithScope("f()", [:]), .dbPointer("d.c", id)] {
            #expect(try BSONValue(extendedJSON: value.extendedJSON()) == value)
            let list: BSONDocument = ["list": [1, value]]
            let text = try list.extendedJSON()
            // libbson has a defect: it names the array's second element by text that was left over in memory. Reading
            // the document must therefore fail, except if that text happens to be the right name, `1`.
            let again = try? BSONDocument(extendedJSON: text)
            #expect(again == nil || again == list)
        }
    }

    @Test func decimalsAreWrittenAsWeWriteThem() throws {
        for decimal in DocumentGenerator.decimals {
            let text = #"{ "$numberDecimal" : "\#(decimal)" }"#
            #expect(try BSONValue.decimal(decimal).extendedJSON() == text)
            if !decimal.isZero || decimal.exponentIsPlain {
                #expect(try BSONValue(extendedJSON: text) == .decimal(decimal))
            }
        }
    }
}

extension Decimal128 {
    /// Whether the number's text reads back as the same bits; it does not if the coefficient is too large, for example.
    fileprivate var exponentIsPlain: Bool { Decimal128(description) == self }
}
