import BSON
import Checking
import ServerSchema

extension CheckReport {
    /// Returns a report on two collections: one with findings, and one without.
    static func fixture(ledgerCount: Int? = 99_000, certain: Int = 1_023) throws -> CheckReport {
        let id = BSONValue.objectID(ObjectID(high: 0x507f_1f77_bcf8_6cd7, low: 0x9943_9011))
        var counts = DocumentCounts()
        (counts.read, counts.certain, counts.possible, counts.certainInLedger) = (200_000, certain, 5, 23)
        (counts.unexcepted.certain, counts.unexcepted.possible) = (certain, 5)
        let email = ViolationGroup(
            violation: Violation(
                path: SchemaPath([.field("email")]), rule: Rule.requiredMissing.code, level: .certain,
                expected: "string", found: "missing"),
            count: certain, sampleIDs: [id, 7, "a\"b"], filter: ["email": ["$exists": false]],
            filterIsExact: true)
        let blob = ViolationGroup(
            violation: Violation(
                path: SchemaPath([.field("blobs"), .elements]), rule: Rule.binarySubtype.code, level: .possible,
                expected: "binData of subtype 0", found: "binData of subtype 5, not 16 bytes"),
            count: 5, sampleIDs: [.long(1 << 40)], filter: ["$expr": ["$ne": ["$n", .double(.nan)]]],
            filterIsExact: false)
        var clean = DocumentCounts()
        clean.read = 1_500
        return CheckReport(
            source: "mongodb://localhost",
            collections: [
                Collection(
                    namespace: Namespace(database: "app", collection: "Person"), counts: counts,
                    estimatedCount: 200_010, groups: [email, blob], overflowCount: 2),
                Collection(namespace: Namespace(database: "app", collection: "Pet"), counts: clean),
            ],
            ledger: ledgerCount.map { LedgerCount(entries: $0, documents: $0) },
            notes: ["majority reads are not available"], duration: .milliseconds(12_345))
    }
}
