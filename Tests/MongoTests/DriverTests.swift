import Mongo
import Synchronization
import Testing

@Suite struct DriverTests {
    @Test func theDriverShowsItsVersion() {
        #expect(Driver.version.split(separator: ".").count >= 3)
    }

    @Test func logLinesReachTheSinkOnly() throws {
        let box = LineBox()
        DriverLog.setSink { level, domain, message in box.append("\(level) \(domain) \(message)") }
        defer { DriverLog.setSink(nil) }
        _ = try MongoURI.parse("mongodb://h/?noSuchOption=1")  // the driver warns of it in its log
        #expect(box.lines.contains { $0.hasPrefix("warning mongoc") && $0.contains("Unsupported URI option") })
    }
}

private final class LineBox: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func append(_ line: String) { kept.withLock { $0.append(line) } }
}
