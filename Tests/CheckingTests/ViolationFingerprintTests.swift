import BSON
import Checking
import ServerSchema
import Testing

/// Tests the identity by which a later check recognizes a violation that the operator has accepted.
@Suite struct ViolationFingerprintTests {
    private func fingerprint(
        database: String = "app", collection: String = "Person", level: Level = .certain, found: String = "string"
    ) -> Fingerprint {
        let violation = Violation(
            path: SchemaPath([.field("age")]), rule: Rule.typeMismatch.code, level: level, expected: "int", found: found
        )
        return violation.fingerprint(in: Namespace(database: database, collection: collection))
    }

    /// The files in which users list accepted violations contain fingerprints.
    ///
    /// If a new version of the program computed another fingerprint for a violation, these files would no longer match.
    @Test func itStaysTheSameInEveryVersion() { #expect(fingerprint().description == "3df659695984c0ee") }

    @Test func itDependsOnTheTypesAndTheCollection() {
        #expect(fingerprint(found: "date") != fingerprint())
        #expect(fingerprint(collection: "Pet") != fingerprint())
        #expect(fingerprint(database: "tenant_2", level: .possible) == fingerprint())
    }
}
