import BSON
import Checking
import Glibc
import Mongo
import Scanning
import Synchronization
import TestSupport
import Testing

/// Tests that a check reopens a lost cursor after the last `_id` that it read, so that it reads every document once.
@Suite struct CheckScanFailureTests {
    /// The `_id`s of more documents than a batch holds.
    ///
    /// A query by bounds such as `$gt` might miss documents with an unusual `_id`, such as NaN.
    private static let ids: [BSONValue] =
        [.minKey, .null, .double(.nan), .maxKey] + (0..<25_000).map { .integer($0) } + ["a", .bool(true)]

    private func expectWholeScan(
        _ database: TestDatabase, threads: Int, on mongod: Mongod, _ point: FailPoint
    ) async throws {
        var point = point
        point.appName = database.appName
        let read = try await mongod.failing(point) { try await database.scannedIDs("a", threads: threads) }
        #expect(read.count == Self.ids.count)
        #expect(Set(read.map(IDBytes.init)) == Set(Self.ids.map(IDBytes.init)))
    }

    @Test(arguments: [1, 3]) func aLostCursorIsReopened(_ threads: Int) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", Self.ids.map { ["_id": $0] })
            var closing = FailPoint("getMore", mode: .times(1))
            closing.closesConnection = true
            for point in [
                FailPoint.error(43, "getMore", mode: .times(1)), .error(91, "getMore", mode: .times(1)), closing,
                .error(175, "getMore", mode: .times(1)), .error(237, "getMore", mode: .times(1)),
                .error(50, "getMore", mode: .times(1)),
            ] {
                try await expectWholeScan(database, threads: threads, on: mongod, point)
            }
        }
    }

    @Test func afterNaNItContinuesAfterNaN() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            // A batch ends at 16 MiB, so the first batch of these documents ends with the `_id` NaN.
            let large = BSONValue.string(String(repeating: "x", count: 8_380_000))
            let ids: [(BSONValue, BSONValue)] = [
                (.minKey, large), (.null, large), (.double(.nan), 1), (1, large), (2, 1),
            ]
            for (id, value) in ids { try await database.fill("a", [["_id": id, "v": value]]) }
            var point = FailPoint.error(43, "getMore", mode: .times(1))
            point.appName = database.appName
            let read = try await mongod.failing(point) { try await database.scannedIDs("a") }
            #expect(read.map(IDBytes.init) == ids.map { IDBytes($0.0) })
        }
    }

    /// If the member that a scan reads from stays unreachable, the scan starts over and reads every document again.
    @Test func aScanThatOneMemberCannotFinishIsRepeated() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", Self.ids.map { ["_id": $0] })
            var options = ScanOptions()
            (options.retryLimit, options.threads) = (.zero, 1)
            let (progress, restarts) = (Count(), Count())
            options.listeners.progress = { progress.add($0) }
            options.listeners.onRestart = { _ in restarts.add(1) }
            var point = FailPoint.error(91, "getMore", mode: .times(1))
            point.appName = database.appName
            let threads = RangeThreads(database.namespace("a"), on: database.pool, options: options)
            let parts = try await mongod.failing(point) {
                try await threads.read({ [IDBytes]() }) { ids, document in
                    if let id = BSONDocument(copying: document)["_id"] { ids.append(IDBytes(id)) }
                }
            }
            #expect(parts.map(\.count) == [Self.ids.count])
            #expect(Set(parts.joined()) == Set(Self.ids.map(IDBytes.init)))
            #expect(restarts.value == 1)
            #expect(progress.value == Self.ids.count)
        }
    }

    @Test func aStepDownIsRetried() async throws {
        let mongod = try await Mongod.start()
        try await mongod.withDatabase { database in
            try await database.fill("a", Self.ids.map { ["_id": $0] })
            let namespace = database.namespace("a")
            let started = AsyncStream<Void>.makeStream()
            async let scan = database.pool.run { client in
                var count = 0
                try RangeReader(client.collection(namespace), range: .everything).read { _ in
                    count += 1
                    if count == 5_000 {
                        started.continuation.yield()
                        // Two seconds are long enough for the connection of the old cursor to close.
                        sleep(2)
                    }
                    return true
                }
                return count
            }
            for await _ in started.stream { break }
            try await mongod.stepDown()
            let count = try await scan
            #expect(count == Self.ids.count)
        }
    }

    /// An error "cursor not found" that `body` throws is passed on, and the scan does not reopen its own cursor.
    ///
    /// `body` can throw such an error when it reads linked documents.
    @Test func anErrorOfTheBodyIsNotTakenForALostCursor() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 10)
            let namespace = database.namespace("a")
            let lost = MongoError(.server, .cursorNotFound, message: "from the body")
            let (error, count) = try await database.pool.run { client in
                var count = 0
                let error = #expect(throws: MongoError.self) {
                    try RangeReader(client.collection(namespace), range: .everything).read { _ in
                        count += 1
                        if count == 3 { throw lost }
                        return true
                    }
                }
                return (error, count)
            }
            #expect(error?.code == .cursorNotFound)
            #expect(count == 3)
        }
    }

    @Test func aViewsLostCursorIsAnError() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 12_000)
            try await database.run(["create": "v", "viewOn": "a", "pipeline": []])
            var point = FailPoint.error(43, "getMore", mode: .times(1))
            point.appName = database.appName
            let error = try await #require(throws: MongoError.self) {
                try await mongod.failing(point) { try await database.scannedIDs("v", isView: true) }
            }
            #expect(error.code == .cursorNotFound)
        }
    }

    @Test func withoutAServerItGivesUp() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 12_000)
            let namespace = database.namespace("a")
            var point = FailPoint.error(43, "getMore", "find")
            point.appName = database.appName
            let error = try await #require(throws: MongoError.self) {
                try await mongod.failing(point) {
                    try await database.pool.run { client in
                        let reader = RangeReader(
                            client.collection(namespace), range: .everything, retryLimit: .milliseconds(1_500))
                        try reader.read { _ in true }
                    }
                }
            }
            #expect(error.code == .cursorNotFound)
        }
    }
}

/// A counter that several threads add to.
private final class Count: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ number: Int) { count.add(number, ordering: .relaxed) }
}
