import Foundation

/// Hours in which a job does not write, by the local time of a time zone: `Mon-Fri 08:00-20:00 Europe/Madrid`.
package struct PauseWindow: Hashable, Sendable {
    package let text: String
    /// The minutes of the day at which the window starts and ends.
    ///
    /// If the end is earlier than the start, the window ends on the next day.
    private let start: Int
    private let end: Int
    /// The days on which the window starts; 0 is Sunday.
    private let weekdays: Set<Int>
    private let zone: TimeZone

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let minutes = 1_440

    /// Reads the text of a window: `[DAYS] HH:MM-HH:MM ZONE`.
    ///
    /// `DAYS` is like `Mon-Fri` or `Sat,Sun`; without it, the window begins on every day.
    /// - Throws: ``PauseWindowError`` that says what is wrong.
    package init(_ text: String) throws(PauseWindowError) {
        self.text = text
        var parts = text.split(separator: " ").map(String.init)
        guard parts.count == 2 || parts.count == 3 else {
            throw PauseWindowError("a pause is [DAYS] HH:MM-HH:MM ZONE, such as \"Mon-Fri 08:00-20:00 Europe/Madrid\"")
        }
        weekdays = parts.count == 3 ? try Self.weekdays(parts.removeFirst()) : Set(0..<7)
        let times = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard times.count == 2 else { throw PauseWindowError("\"\(parts[0])\" must be HH:MM-HH:MM") }
        (start, end) = (try Self.minute(times[0], atMost: 1_439), try Self.minute(times[1], atMost: Self.minutes))
        guard start != end else {
            throw PauseWindowError("a pause from \(times[0]) to \(times[1]) has no length: a whole day is 00:00-24:00")
        }
        guard let zone = TimeZone(place: parts[1]) else { throw PauseWindowError(TimeZone.unknown(parts[1])) }
        self.zone = zone
    }

    /// Returns whether the window contains the given time.
    ///
    /// Times are compared in local time. When the clocks are set back, a window that contains the repeated hour
    /// contains it both times. When the clocks are set forward, the omitted hour does not occur.
    package func contains(secondsSince1970 seconds: Int) -> Bool {
        let (weekday, minute) = clock(at: seconds)
        if start < end { return weekdays.contains(weekday) && (start..<end).contains(minute) }
        return weekdays.contains(weekday) && minute >= start || weekdays.contains((weekday + 6) % 7) && minute < end
    }

    /// Returns the local time in the window's time zone, such as `Mon 08:15`.
    package func time(at seconds: Int) -> String {
        let (weekday, minute) = clock(at: seconds)
        return "\(Self.days[weekday]) \(Self.twoDigits(minute / 60)):\(Self.twoDigits(minute % 60))"
    }

    private func clock(at seconds: Int) -> (weekday: Int, minute: Int) {
        let local = seconds + zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
        let (day, second) = local.quotientAndRemainder(dividingBy: 86_400)
        return ((day + 4) % 7, second / 60)  // 1970-01-01 was a Thursday
    }

    private static func weekdays(_ text: String) throws(PauseWindowError) -> Set<Int> {
        var result: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { name in
                days.firstIndex { $0.lowercased() == name.lowercased() }
            }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else {
                throw PauseWindowError("\"\(part)\" must be a day, such as Mon, or days, such as Mon-Fri")
            }
            result.formUnion((0...(last - first + 7) % 7).map { (first + $0) % 7 })
        }
        return result
    }

    private static func minute(_ text: String, atMost maximum: Int) throws(PauseWindowError) -> Int {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60, hour * 60 + minute <= maximum
        else { throw PauseWindowError("\"\(text)\" must be a time of the day, such as 08:00") }
        return hour * 60 + minute
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

package struct PauseWindowError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message, which says what is wrong and how to correct it.
    package let description: String

    init(_ description: String) { self.description = description }
}

extension TimeZone {
    /// Creates the time zone of a place, such as `Europe/Madrid`, or `UTC`; `nil` if there is none of this name.
    ///
    /// An abbreviation such as EST is refused, because it has no summer time, or several meanings.
    init?(place: String) {
        guard place == "UTC" || place.contains("/") else { return nil }
        self.init(identifier: place)
    }

    /// Returns the words of the error that there is no time zone of this name.
    static func unknown(_ place: String) -> String {
        "there is no time zone \"\(place)\": name one like Europe/Madrid, or UTC"
    }
}
