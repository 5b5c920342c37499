import BSON
import ServerSchema
import Testing

@testable import SchemaChange

/// Tests that a diff reports a property that is removed while clients may still use it.
@Suite struct EarlyRemovalTests {
    private static let people = Namespace(database: "app", collection: "Person")
    private static let old = #"{"bsonType": "int", "description": "@deprecated 2027-03-31"}"#

    private func schema(_ properties: String, validator: Bool = false) throws -> ServerSchema {
        let schema = #"{"title": "Person", "properties": {"_id": {"bsonType": "int"}\#(properties)}}"#
        return try ServerSchema.read(
            text: validator ? #"{"$jsonSchema": \#(schema)}"# : schema, file: "p.json", namespace: Self.people)
    }

    private func removals(
        _ old: String, _ new: String = "", on today: String, renames: [String] = [], validator: Bool = false
    ) throws -> [SchemaChange] {
        let changes = try SchemaDiff.changes(
            from: try schema(old, validator: validator), to: try schema(new, validator: validator),
            renames: renames.map { try Rename($0) })
        return SchemaDiff.earlyRemovals(in: changes, today: today)
    }

    @Test func theLastDayIsStillTooEarly() throws {
        let early = try removals(#", "age": \#(Self.old)"#, on: "2027-03-31")
        #expect(early.map(\.kind) == [.removedBeforeDay])
        #expect(early.first?.description == "age is removed, but clients may use it until 2027-03-31")
        #expect(early.first?.kind.verdict == .breaking && early.first?.server == .nonBreaking)
        #expect(try removals(#", "age": \#(Self.old)"#, on: "2027-04-01") == [])
    }

    /// The removal of a property is usually not a breaking change of a validator.
    ///
    /// It is breaking if `@deprecated` names a day for the property, and that day has not passed.
    @Test func itIsBreakingInEveryDialect() throws {
        let early = try removals(#", "age": \#(Self.old)"#, on: "2027-01-01", validator: true)
        #expect(early.map(\.code) == [.removedBeforeDay] && early.first?.kind.verdict == .breaking)
    }

    @Test func aRenameAndTheRemovalOfAnObjectRemoveTheProperty() throws {
        let renamed = try removals(
            #", "age": \#(Self.old)"#, #", "years": {"bsonType": "int"}"#, on: "2027-01-01",
            renames: ["Person.age=years"])
        #expect(renamed.map { "\($0.path)" } == ["age"])
        let object = #", "address": {"bsonType": "object", "title": "A", "properties": {"zip": \#(Self.old)}}"#
        #expect(try removals(object, on: "2027-01-01").map { "\($0.path)" } == ["address.zip"])
    }

    @Test func aPropertyThatStaysOrHasNoDayIsNoFinding() throws {
        #expect(try removals(#", "age": \#(Self.old)"#, #", "age": {"bsonType": "int"}"#, on: "2027-01-01") == [])
        let without = Self.old.replacing(" 2027-03-31", with: "")
        #expect(try removals(#", "age": \#(without)"#, on: "2027-01-01") == [])
    }
}

/// Tests the changes that the operator accepts.
@Suite struct AcceptedChangeTests {
    private static let people = Namespace(database: "app", collection: "Person")

    private func report(_ type: String) throws -> DiffReport {
        func schema(_ type: String) throws -> ServerSchema {
            let properties = #""_id": {"bsonType": "int"}, "n": {"bsonType": "\#(type)"}"#
            return try ServerSchema.read(
                text: #"{"title": "Person", "properties": {\#(properties)}}"#, file: "p.json", namespace: Self.people)
        }
        return DiffReport(
            old: "v1", new: "v2", dialect: .appServices,
            changes: SchemaDiff.changes(from: try schema("string"), to: try schema(type)))
    }

    private func accepted(_ fingerprint: Fingerprint?, path: String = "n") -> AcceptedChange {
        AcceptedChange(
            namespace: Self.people, path: path, code: .propertyTypeChanged,
            acceptance: Acceptance(
                fingerprint: fingerprint, reason: "r", owner: "o", expires: nil,
                location: SourceLocation(file: "e.yml", line: 1, column: 3)))
    }

    @Test func anAcceptedChangeDoesNotFail() throws {
        var report = try report("int")
        #expect(report.hasFailed)
        report.accepted = [accepted(nil)]
        #expect(!report.hasFailed && report.verdict == .breaking)
        report.failOn = .any
        #expect(!report.hasFailed)
        report.accepted = [accepted(nil, path: "m")]
        #expect(report.hasFailed)
    }

    /// The fingerprint of an accepted change accepts no other change of the same property.
    @Test func aFingerprintAcceptsOneChangeOnly() throws {
        var (toInt, toDate) = (try report("int"), try report("date"))
        let fingerprint = try #require(toInt.changes.first).fingerprint
        // Users list accepted changes by their fingerprints in files, so a later version must compute the same
        // fingerprint.
        #expect(fingerprint.description == "17be5375be8ef5c9")
        toInt.accepted = [accepted(fingerprint)]
        toDate.accepted = [accepted(fingerprint)]
        #expect(!toInt.hasFailed && toDate.hasFailed)
    }

    @Test func anExpiredAcceptanceIsKnownWhereItWouldApply() throws {
        var report = try report("int")
        report.expired = [accepted(nil)]
        let change = try #require(report.changes.first)
        #expect(report.hasFailed && report.expiredAcceptance(of: change) != nil)
        report.accepted = [accepted(nil)]
        #expect(report.expiredAcceptance(of: change) == nil)
    }
}
