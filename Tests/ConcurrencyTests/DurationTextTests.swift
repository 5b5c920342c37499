import Concurrency
import Testing

@Suite struct DurationTextTests {
    @Test(arguments: [("500ms", 500), ("30s", 30_000), ("10m", 600_000), ("2h", 7_200_000), ("1500ms", 1_500)])
    func aTextIsReadAndSpelledTheSame(_ text: String, _ milliseconds: Int64) {
        #expect(Duration(text: text)?.milliseconds == milliseconds)
        #expect(Duration.milliseconds(milliseconds).text == text)
    }

    @Test(arguments: [(60_000, "1m"), (90_000, "90s"), (0, "0s"), (3_600_000, "1h")])
    func theLargestUnitIsTaken(_ milliseconds: Int64, _ text: String) {
        #expect(Duration.milliseconds(milliseconds).text == text)
    }

    @Test(arguments: ["", "5", "s", "-1s", "1.5s", "5 s", "5S", "1d", "99999999999999999999s", "1000000001ms"])
    func nothingElseIsADuration(_ text: String) {
        #expect(Duration(text: text) == nil)
    }
}
