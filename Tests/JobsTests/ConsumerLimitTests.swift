import JobsSupport
import Testing

@testable import Jobs

/// Tests the limit `consumer` of a job file: the name of a consumer whose rate is known, or a rate.
@Suite struct ConsumerLimitTests {
    private func limits(_ text: String) throws -> Job.Limits {
        try JobFile.parse(
            "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nlimits: {consumer: \(text)}", path: "j.yml"
        ).limits
    }

    @Test(
        arguments: [
            ("powersync", 2_000, 5_000_000), ("off", nil, nil), ("{documents: 500}", 500, nil),
            ("{bytes: 5MiB}", nil, 5 << 20), ("{documents: off, bytes: 1000}", nil, 1_000),
        ] as [(String, Int?, Int?)])
    func aNameOrARate(_ text: String, _ documents: Int?, _ bytes: Int?) throws {
        #expect(try limits(text).consumer == ConsumerRate(documents: documents, bytes: bytes))
    }

    @Test(arguments: [
        ("powersink", "j.yml:4:20: the rate of \"powersink\" is not known (did you mean \"powersync\"?)"),
        ("{documents: 0}", "j.yml:4:32: "), ("{rows: 5}", "j.yml:4:21: "),
    ])
    func anythingElseIsRefused(_ text: String, _ start: String) throws {
        let message = Fixture.failure { try limits(text) }
        #expect(message?.hasPrefix(start) == true, "\(message ?? "")")
    }

    /// If the job file names a consumer, `job tune` can change one of the consumer's rates, and the other rate stays.
    @Test func oneRateOfANamedConsumerIsChanged() throws {
        let head = "job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nlimits: {consumer: powersync}"
        let job = try JobFile.parse(head, path: "j.yml")
        let limits = try job.limits(overriddenBy: [LimitOverride(name: "consumer.documents", value: "100")])
        #expect(limits.consumer == ConsumerRate(documents: 100, bytes: 5_000_000))
    }

    @Test func aChunkIsNoLargerThanASecondOfTheRate() throws {
        let limits = try limits("{documents: 500, bytes: 1MiB}")
        #expect(limits.mostDocuments == 500 && limits.mostBytes == 1 << 20)
    }

    @Test func theSlowerRateDecidesTheTime() {
        let rate = ConsumerRate(documents: 2_000, bytes: 5_000_000)
        #expect(rate.seconds(for: 10_000, size: 100) == 5)
        #expect(rate.seconds(for: 10_000, size: 5_000) == 10)
        #expect(rate.seconds(for: 10_000, size: nil) == 5)
        #expect(ConsumerRate().isUnlimited && ConsumerRate().seconds(for: 10_000, size: 100) == 0)
    }
}
