import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs

/// Tests how the size of the next chunk follows from the measured times and sizes of the last chunks.
@Suite struct ChunkSizeTests {
    @Test(
        arguments: [
            (100_000, 16 << 20, 300, 20_000), (100_000, 16 << 20, nil, 20_000), (100_000, 1 << 20, 1_024, 1_024),
            (500, 16 << 20, 300, 500), (5_000, 1_000, 4_096, 1), (5_000, 1_000, 0, 1_000), (1, 1 << 30, 10, 1),
        ] as [(Int, Int, Int?, Int)])
    func aChunkStartsWhereCapAndBytesAllow(_ documents: Int, _ bytes: Int, _ average: Int?, _ expected: Int) {
        #expect(size(documents, bytes: bytes, average: average).documents == expected)
    }

    @Test func theSizeChangesWithTheEleventhChunk() {
        var size = size(500, cap: 10_000)
        for _ in 0..<10 { size.learn(from: 500, time: .milliseconds(400)) }
        #expect(size.documents == 500)
        size.learn(from: 500, time: .milliseconds(400))
        #expect(size.documents == 625)
    }

    /// The size is multiplied by the target time divided by the measured time, but grows at most by a factor of 1.5.
    @Test(arguments: [(250, 750), (400, 625), (500, 500), (625, 400), (1_000, 250), (2_000, 125), (1, 750)])
    func timeSteers(_ milliseconds: Int, _ expected: Int) {
        var size = size(500, cap: 10_000)
        for _ in 0..<11 { size.learn(from: 500, time: .milliseconds(milliseconds)) }
        #expect(size.documents == expected)
    }

    @Test func bytesSteerWhereTheyAreTheNarrowerLimit() {
        var size = size(1_000, cap: 1_000, bytes: 1_024_000, average: 1_024)
        lower(&size, toBytes: 512_000)
        for _ in 0..<11 { size.learn(from: 1_000, time: .milliseconds(100)) }
        #expect(size.documents == 500)
        for _ in 0..<11 { size.learn(from: 500, time: .milliseconds(100)) }
        #expect(size.documents == 500)
    }

    @Test func oneOutlierSaysNothingAndTwoDo() {
        var size = size(500, cap: 10_000)
        for chunk in 0..<11 { size.learn(from: 500, time: .milliseconds(chunk == 3 ? 2_400 : 500)) }
        #expect(size.documents == 500)
        for chunk in 0..<11 { size.learn(from: 500, time: .milliseconds(chunk < 2 ? 2_000 : 500)) }
        #expect(size.documents == 125)
    }

    @Test func moreThanFiveTimesTheTargetFallsToATenthAtOnce() {
        var size = size(500, cap: 10_000)
        for _ in 0..<10 { size.learn(from: 500, time: .milliseconds(1)) }
        size.learn(from: 500, time: .milliseconds(25_001))
        #expect(size.documents == 50)
        // Measurements from before the last change of the size are ignored.
        for _ in 0..<10 { size.learn(from: 50, time: .milliseconds(50)) }
        #expect(size.documents == 50)
        size.learn(from: 50, time: .milliseconds(50))
        #expect(size.documents == 75)
    }

    @Test func timeAloneDoesNotMakeChunksSmallerThanAHundred() {
        var size = size(500, cap: 10_000)
        size.learn(from: 500, time: .milliseconds(2_501))
        #expect(size.documents == 100)
        size.learn(from: 100, time: .milliseconds(2_501))
        #expect(size.documents == 100)
    }

    @Test func moreThanFiveTimesTheBytesFallsToATenthAtOnce() {
        var size = size(100, cap: 100, bytes: 102_400, average: 1_024)
        lower(&size, toBytes: 10_240)
        size.learn(from: 100, time: .milliseconds(1))
        #expect(size.documents == 10)
    }

    @Test func feedbackOfAnotherSizeIsIgnored() {
        var size = size(500, cap: 10_000)
        for _ in 0..<20 { size.learn(from: 499, time: .seconds(60)) }
        #expect(size.documents == 500)
    }

    @Test func theSizeStaysBetweenOneAndTheCap() {
        var size = size(10, cap: 12)
        for _ in 0..<22 { size.learn(from: size.documents, time: .zero) }
        #expect(size.documents == 12)
        size.learn(from: 12, time: .seconds(60))
        #expect(size.documents == 1)
        #expect(!size.isStuck)
        size.learn(from: 1, time: .seconds(60))
        #expect(size.documents == 1)
        #expect(size.isStuck)
        for _ in 0..<11 { size.learn(from: 1, time: .milliseconds(1)) }
        #expect(size.documents == 2)
        #expect(!size.isStuck)
    }

    @Test func aChunkThatRanIntoTheTimeLimitIsHalved() {
        var size = size(500, cap: 10_000)
        size.shrink()
        #expect(size.documents == 250)
    }

    @Test func aLowerCapHoldsAtOnceAndAHigherOneIsGrownInto() {
        var limits = Job.Limits()
        (limits.chunkDocuments, limits.chunkTime) = (100, .milliseconds(500))
        var size = size(500, cap: 500)
        size.adopt(limits)
        #expect(size.documents == 100)
        limits.chunkDocuments = 1_000
        size.adopt(limits)
        #expect(size.documents == 100)
        for _ in 0..<11 { size.learn(from: 100, time: .milliseconds(1)) }
        #expect(size.documents == 150)
    }

    private func size(_ documents: Int, bytes: Int = 1 << 30, average: Int? = nil) -> ChunkSize {
        var limits = Job.Limits()
        limits.chunkDocuments = documents
        limits.chunkBytes = bytes
        limits.chunkTime = .milliseconds(500)
        return ChunkSize(limits, averageSize: average)
    }

    /// Returns a chunk size that starts at `documents` and may grow to `cap`.
    private func size(_ documents: Int, cap: Int, bytes: Int = 1 << 30, average: Int? = nil) -> ChunkSize {
        var limits = Job.Limits()
        limits.chunkDocuments = documents
        limits.chunkBytes = bytes
        limits.chunkTime = .milliseconds(500)
        var size = ChunkSize(limits, averageSize: average)
        limits.chunkDocuments = cap
        size.adopt(limits)
        return size
    }

    /// Lowers the limit of a chunk's bytes.
    private func lower(_ size: inout ChunkSize, toBytes bytes: Int) {
        var limits = Job.Limits()
        (limits.chunkDocuments, limits.chunkBytes, limits.chunkTime) = (10_000, bytes, .milliseconds(500))
        size.adopt(limits)
    }
}
