import ServerSchema
import Testing

@Suite struct FingerprintTests {
    /// The hash function of ``Fingerprint`` must stay the same, because operators' files of exceptions contain
    /// fingerprints of findings.
    @Test func theHashStaysTheSameInEveryVersion() {
        #expect(Fingerprint(of: []).description == "cbf29ce484222325")
        #expect(Fingerprint(of: ["check", "app.Task", "type-mismatch"]).description == "822edee3c818e683")
    }

    @Test func partsAreNotJoined() {
        #expect(Fingerprint(of: ["ab", "c"]) != Fingerprint(of: ["a", "bc"]))
        #expect(Fingerprint(of: ["a"]) != Fingerprint(of: ["a", ""]))
    }

    @Test(arguments: ["", "cbf29ce48422232", "cbf29ce4842223255", "CBF29CE484222325", "cbf29ce48422232g"])
    func otherTextsAreNoFingerprint(_ text: String) { #expect(Fingerprint(text) == nil) }

    @Test func itsTextIsRead() { #expect(Fingerprint("cbf29ce484222325") == Fingerprint(of: [])) }
}
