import Testing

@testable import Jobs

/// Tests pause windows: the hours in which a job does not write.
@Suite struct PauseWindowTests {
    /// Monday, 2026-11-23, 00:00 UTC.
    private static let monday = 1_795_392_000
    private static let hour = 3_600

    private func isOn(_ text: String, _ time: Int) throws -> Bool {
        try PauseWindow(text).contains(secondsSince1970: time)
    }

    @Test(arguments: [(7, 59, false), (8, 0, true), (19, 59, true), (20, 0, false), (0, 0, false)])
    func theStartBelongsToItAndTheEndDoesNot(_ hour: Int, _ minute: Int, _ expected: Bool) throws {
        let time = Self.monday + hour * Self.hour + minute * 60
        #expect(try isOn("08:00-20:00 UTC", time) == expected)
        // In November, Madrid is an hour ahead of UTC.
        #expect(try isOn("08:00-20:00 Europe/Madrid", time - Self.hour) == expected)
    }

    @Test(arguments: [(21, 59, false), (22, 0, true), (23, 59, true), (24, 0, true), (29, 59, true), (30, 0, false)])
    func aWindowGoesPastMidnight(_ hour: Int, _ minute: Int, _ expected: Bool) throws {
        #expect(try isOn("22:00-06:00 UTC", Self.monday + hour * Self.hour + minute * 60) == expected)
    }

    @Test(arguments: [(4, 23, true), (5, 5, true), (5, 6, false), (5, 23, false), (6, 5, false), (0, 5, false)])
    func theDayIsThatOnWhichTheWindowStarts(_ day: Int, _ hour: Int, _ expected: Bool) throws {
        // Friday's window lasts into Saturday. There is no window on Sunday that could last into Monday.
        #expect(try isOn("Mon-Fri 22:00-06:00 UTC", Self.monday + (day * 24 + hour) * Self.hour) == expected)
    }

    @Test(arguments: [("Sat,Sun", [5, 6]), ("sat-mon", [0, 5, 6]), ("Wed", [2]), ("Mon,Thu-Fri", [0, 3, 4])])
    func daysAreListsAndRanges(_ days: String, _ expected: [Int]) throws {
        let on = try (0..<7).filter { try isOn("\(days) 00:00-24:00 UTC", Self.monday + ($0 * 24 + 12) * Self.hour) }
        #expect(on == expected)
    }

    @Test func theHourThatComesTwiceIsInTheWindowTwice() throws {
        // In Madrid, the clock goes back from 03:00 to 02:00 on 2026-10-25, at 01:00 UTC.
        let back = 1_792_890_000
        let minutes = stride(from: back - 2 * Self.hour, to: back + 2 * Self.hour, by: 60)
        #expect(try minutes.filter { try isOn("02:00-03:00 Europe/Madrid", $0) }.count == 120)
        #expect(try minutes.filter { try isOn("01:30-03:30 Europe/Madrid", $0) }.count == 180)
    }

    @Test func theHourThatIsLeftOutIsInNoWindow() throws {
        // In Madrid, the clock goes forward from 02:00 to 03:00 on 2026-03-29, at 01:00 UTC.
        let forward = 1_774_746_000
        let minutes = stride(from: forward - 2 * Self.hour, to: forward + 2 * Self.hour, by: 60)
        #expect(try minutes.filter { try isOn("02:00-03:00 Europe/Madrid", $0) }.isEmpty)
        #expect(try minutes.filter { try isOn("01:30-03:30 Europe/Madrid", $0) }.count == 60)
    }

    @Test func summerTimeShiftsTheWindow() throws {
        let july = 1_783_324_800  // Monday 2026-07-06 08:00 UTC, which is 10:00 in Madrid
        #expect(try isOn("Mon 10:00-10:01 Europe/Madrid", july))
        #expect(try PauseWindow("Mon 10:00-10:01 Europe/Madrid").time(at: july) == "Mon 10:00")
    }

    @Test(
        arguments: [
            ("08:00-20:00", "[DAYS] HH:MM-HH:MM ZONE"), ("08:00-20:00 Madrid", "no time zone \"Madrid\""),
            ("08:00-20:00 EST", "no time zone \"EST\""), ("8:00-20:00 UTC", "\"8:00\" must be a time"),
            ("08:00-24:01 UTC", "\"24:01\""), ("24:00-08:00 UTC", "\"24:00\""), ("08:00-08:00 UTC", "has no length"),
            ("08:60-20:00 UTC", "\"08:60\""), ("Funday 08:00-20:00 UTC", "\"Funday\""), ("08:00 UTC", "HH:MM-HH:MM"),
            ("Mon- 08:00-20:00 UTC", "\"Mon-\""), ("", "[DAYS]"),
        ])
    func anInvalidWindowIsNamed(_ text: String, _ message: String) {
        do throws(PauseWindowError) {
            _ = try PauseWindow(text)
            Issue.record("\"\(text)\" was taken")
        } catch {
            #expect(error.description.contains(message), "\(error)")
        }
    }
}
