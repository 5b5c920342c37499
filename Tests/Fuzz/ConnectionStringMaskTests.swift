import Testing

@testable import ShipshapeCLI

/// Tests that an error message never shows the secret of a connection string, even if the string is mistyped.
@Suite struct ConnectionStringMaskTests {
    @Test(arguments: [
        ("mongodb://ada:pw@host/db", "mongodb://***@host/db"), ("mongodb:/ada:pw@host", "mongodb:/***@host"),
        ("a mongodb+srv://ada:p w@x@host b", "a mongodb+srv://***@host b"), ("mongodb:ada:pw@host", "***@host"),
        ("mongodb//ada:pw@host/db", "***@host/db"),
        ("no file \"ada:pw@host:27017/db\"", "no file \"***@host:27017/db\""),
        ("ada:p@w@host, and bob:pw@host", "***@host, and ***@host"), ("x?password=a&b", "x?password=***&b"),
    ]) func secretsAreHidden(_ text: String, _ masked: String) {
        #expect(ConnectionStringMask.mask(text) == masked)
        #expect(ConnectionStringMask.mask(text).contains("pw") == false)
    }

    @Test(arguments: [
        "s.prisma:5:10: a field has no attribute @mapp (did you mean @map?)", "HEAD@{1}:schemas: no such folder",
        "owner: ada@example.net", "", "@", ":@", "a: b @ c",
    ]) func otherTextsStay(_ text: String) { #expect(ConnectionStringMask.mask(text) == text) }

    /// A message can quote a long name from a file.
    @Test func theTimeGrowsWithTheLength() {
        for unit in ["a.", "a:", "a@", "a:/", "?", "a:b@ "] {
            let texts = [20_000, 160_000].map { String(repeating: unit, count: $0 / unit.utf8.count) }
            let times = texts.map { text in Cost.measure { _ = ConnectionStringMask.mask(text) }.seconds }
            #expect(times[1] < 12 * max(times[0], 0.02), "\(unit): \(times)")
        }
    }
}
