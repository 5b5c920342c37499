import BSON
import Testing

@Suite struct FieldPathTests {
    @Test func aPathHasItsNames() throws {
        #expect(try FieldPath("address.city").components == ["address", "city"])
        #expect(try FieldPath("a").components == ["a"])
        #expect(try FieldPath("tags.0.über").description == "tags.0.über")
    }

    @Test(arguments: [
        ("", FieldPathError.Code.empty, 0), (".", .emptyComponent, 0), ("a.", .emptyComponent, 1),
        (".a", .emptyComponent, 0), ("a..b", .emptyComponent, 1), ("$set", .leadingDollar, 0),
        ("a.$", .leadingDollar, 1), ("a.b\u{0}", .containsNUL, 1),
    ]) func aPathToNoFieldIsRefused(_ text: String, _ code: FieldPathError.Code, _ component: Int) throws {
        let error = #expect(throws: FieldPathError.self) { try FieldPath(text) }
        #expect(error?.code == code)
        #expect(error?.component == component)
        #expect(error?.path == text)
    }

    @Test func aRefusalNamesPathAndName() {
        let error = #expect(throws: FieldPathError.self) { try FieldPath("a.$b") }
        #expect(error?.description == #"path "a.$b": a name begins with $ (name 2)"#)
    }

    static let person: BSONDocument = [
        "name": "Ada", "address": ["city": "London", "geo": ["lat": 51.5], "city": "again"],
        "tags": [["city": "no"]], "none": nil,
    ]

    /// The result of a lookup at a path, with a copy of the value, so that results can be compared.
    enum Answer: Equatable {
        case found(BSONValue, inDocumentOf: Int)
        case missing(Int)
        case blocked(Int, by: BSONType)
    }

    static func answer(_ path: String, _ document: BSONDocument = person) throws -> Answer {
        let path = try FieldPath(path)
        let view = document.view
        switch try path.lookup(in: view) {
        case .found(let element, let owner):
            return .found(try owner.value(element), inDocumentOf: owner.byteCount)
        case .missing(let component): return .missing(component)
        case .blocked(let component, let type): return .blocked(component, by: type)
        }
    }

    @Test func itLeadsThroughObjects() throws {
        let address = try #require(Self.person["address"]?.document)
        #expect(try Self.answer("name") == .found("Ada", inDocumentOf: Self.person.bytes.count))
        #expect(try Self.answer("address.city") == .found("London", inDocumentOf: address.bytes.count))
        #expect(try Self.answer("address.geo.lat") == .found(51.5, inDocumentOf: 18))
        #expect(try Self.answer("tags") == .found([["city": "no"]], inDocumentOf: Self.person.bytes.count))
    }

    @Test func itSaysWhereItEnds() throws {
        #expect(try Self.answer("nick") == .missing(0))
        #expect(try Self.answer("address.street.number") == .missing(1))
    }

    @Test func itNeverLeadsIntoAnArray() throws {
        #expect(try Self.answer("tags.city") == .blocked(0, by: .array))
        #expect(try Self.answer("tags.0") == .blocked(0, by: .array))
        #expect(try Self.answer("none.city") == .blocked(0, by: .null))
        #expect(try Self.answer("address.city.zip") == .blocked(1, by: .string))
    }

    @Test func damageOnTheWayIsAnError() throws {
        let inner = raw(element(0x02, "s", int32(7) + [0]))
        let document = try BSONDocument(bytes: raw(element(0x03, "x", inner)))
        #expect(throws: BSONError(.truncated, at: 14)) { try Self.answer("x.s", document) }
    }
}

/// Paths in job files, reports and exceptions mark the elements of a list with `[]`, as in `pets[].toy`.
///
/// Other notations, such as `pets.[].toy`, can be read, too.
@Suite struct ElementPathSpellingTests {
    @Test(arguments: ["pets[].toy", "pets.[].toy", "pets{}.toy"])
    func elementsHaveOneSpelling(_ text: String) throws {
        let path = try FieldPath(text)
        #expect(path.components == ["pets", "[]", "toy"])
        #expect(path.description == "pets[].toy")
    }

    @Test func elementsOfElementsToo() throws {
        #expect(try FieldPath("m[][]").components == ["m", "[]", "[]"])
        #expect(try FieldPath("m.[].[]").description == "m[][]")
        #expect(try FieldPath("a[b]").components == ["a[b]"])
        #expect(throws: FieldPathError.self) { try FieldPath("a..[]") }
    }
}
