import Foundation
import Reporting
import Testing

@Suite struct DiffJSONTests {
    private func object(_ text: some StringProtocol) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func theObjectHoldsEachChangeWithBothSidesAndTheVerdictLast() throws {
        let text = DiffResult(try DiffFixture.report(weighed: true)).json.text
        let report = try object(text)
        #expect(report["schema_version"] as? Int == 1)
        #expect(report["command"] as? String == "diff")
        let changes = try #require(report["changes"] as? [[String: Any]])
        #expect(
            changes.map { $0["code"] as? String } == [
                "property-removed", "property-type-changed", "optional-added", "required-added",
            ])
        let removed = changes[0]
        #expect(removed["server"] as? String == "breaking" && removed["client"] as? String == "non-breaking")
        #expect(removed["rename_hint"] as? String == "app.Person.age=years")
        #expect(removed["new"] is NSNull)
        let old = try #require(removed["old"] as? [String: Any])
        #expect(old["file"] as? String == "v1.json" && old["type"] as? String == "int")
        let documents = try #require(changes[1]["documents"] as? [String: Any])
        #expect(documents["total"] as? Int == 4_100_000 && documents["holding"] as? Int == 12)
        #expect(documents["types"] as? [String: Int] == ["string": 9, "null": 2])
        let source = try #require(changes[1]["source"] as? [String: Any])
        #expect(source["quick_reference"] as? String == "Change property type but keep the name")
        let verdict = try #require(report["verdict"] as? [String: Any])
        #expect(verdict["worst"] as? String == "breaking" && verdict["breaking"] as? Int == 2)
        #expect(verdict["failed"] as? Bool == true)
        let order = ["schema_version", "old", "changes", "hints", "notes", "verdict"].map { key in
            text.range(of: "\n  \"\(key)\"")?.lowerBound
        }
        #expect(order.allSatisfy { $0 != nil } && order.compactMap(\.self) == order.compactMap(\.self).sorted())
    }

    @Test func theLinesEndWithTheResult() throws {
        let lines = DiffResult(try DiffFixture.report()).json.lines.split(separator: "\n")
        let records = try lines.map { try object($0)["record"] as? String }
        #expect(records == ["header", "change", "change", "change", "change", "hint", "result"])
        #expect(try object(lines[6])["failed"] as? Bool == true)
        #expect(try object(lines[1])["documents"] is NSNull)
    }
}
