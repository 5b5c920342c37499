internal import BSON
internal import Check
internal import Concurrency
internal import Foundation
internal import Logging
internal import Synchronization

/// Shows the progress of a command.
///
/// On a terminal, it redraws one line from half a second on, with a bar if the total is known. Elsewhere, it writes a
/// new line every 15 seconds.
///
/// The threads that do the work only add to counters; a timer draws the line.
final class ProgressLine: Sendable {
    private let title: String
    private let total: Int?
    private let isTotalOfTheRest: Bool
    private let earlier = Atomic<Int>(0)
    private let done = Atomic<Int>(0)
    private let started = ContinuousClock.now
    private let isShown: Bool
    private let timer = Mutex<Task<Void, Never>?>(nil)
    private let unit: String
    private let logger: Logger

    /// Starts to draw if `isShown` is true.
    /// - Parameters:
    ///   - total: the total amount of work; `nil` or 0 if it is unknown.
    ///   - isTotalOfTheRest: whether `total` excludes the work of earlier runs.
    init(_ title: String, total: Int?, isTotalOfTheRest: Bool = false, unit: String = "documents", isShown: Bool) {
        self.title = title.printable
        logger = Log.logger(of: title)
        self.total = total.flatMap { $0 > 0 ? $0 : nil }
        self.isTotalOfTheRest = isTotalOfTheRest
        self.unit = unit
        self.isShown = isShown
        guard isShown else { return }
        let interval: Duration = Console.isInteractive ? .milliseconds(200) : .seconds(15)
        let task = Task { [weak self] in
            while (try? await Task.sleep(for: interval)) != nil { self?.draw() }
        }
        timer.withLock { $0 = task }
    }

    /// Does the work of a phase that counts nothing on a thread of its own, and shows the seconds that it takes.
    static func during<Value: Sendable, E: Error>(
        _ phase: String, isShown: Bool, _ work: @Sendable @escaping () throws(E) -> Value
    ) async throws(E) -> Value {
        let line = ProgressLine(phase, total: nil, unit: ProgressState.time, isShown: isShown)
        defer { line.finish() }
        return try await onOwnedThread(name: "phase", work)
    }

    /// Adds `count` to the work that this run has done; any thread can call it.
    func add(_ count: Int) { done.add(count, ordering: .relaxed) }

    /// Adds `count` to the work that earlier runs have done; any thread can call it.
    func addEarlier(_ count: Int) { earlier.add(count, ordering: .relaxed) }

    /// The progress of the work so far.
    var state: ProgressState {
        let earlier = earlier.load(ordering: .relaxed)
        return ProgressState(
            done: done.load(ordering: .relaxed), earlier: earlier,
            total: total.map { isTotalOfTheRest ? $0 + earlier : $0 }, elapsed: started.duration(to: .now).seconds)
    }

    /// Writes a line for the operator, and clears the bar first.
    func note(_ line: String, level: Logger.Level) {
        if isShown, Console.isInteractive { Console.write("", control: Self.clear) }
        logger.log(level: level, "\(line)")
    }

    /// Stops drawing and clears the bar.
    func finish() {
        timer.withLock {
            $0?.cancel()
            $0 = nil
        }
        if isShown, Console.isInteractive { Console.write("", control: Self.clear) }
    }

    /// The seconds before the first line is drawn, so that short work draws none.
    private static let silence = 0.5

    /// The terminal codes that move to the start of the line and clear it.
    static let clear = "\r\u{1B}[K"

    private func draw() {
        let state = state
        // After `finish`, the timer may fire once again, and must not draw over the result.
        timer.withLock { task in
            guard task != nil, state.elapsed >= Self.silence else { return }
            if Console.isInteractive {
                // One column stays free, because some terminals move to the next line after a full one.
                let room = Console.width - 1
                let bar = state.bar(unit)
                let fits = title.count + 1 + bar.count <= room
                let name = fits ? title : "\(title.prefix(max(8, room - bar.count - 2)))…"
                Console.write(String("\(name) \(bar)".prefix(room)), control: Self.clear)
            } else {
                Console.error("\(title): \(state.line(unit))")
            }
        }
    }
}

struct ProgressState {
    /// The work done by this run.
    var done: Int
    /// The work done by earlier runs.
    var earlier = 0
    /// The work of all runs so far plus the work that is left; `nil` if the total is unknown.
    var total: Int?
    /// The seconds since this run began.
    var elapsed: Double

    /// The unit of work that is the time itself, in seconds, and so has no rate.
    static let time = "s"

    private var allDone: Int { earlier + done }

    private var share: Double? { total.map { min(1, Double(allDone) / Double($0)) } }

    private var rate: Double { elapsed > 0 ? Double(done) / elapsed : 0 }

    /// The estimated remaining time, such as `, about 5 min left`; empty if no estimate is possible.
    ///
    /// The text is also empty in the first two seconds and until a hundredth of the work is done, because the time for
    /// the first documents is a poor estimate for the others.
    private var remaining: String {
        guard let share, let total, share >= 0.01, elapsed >= 2, rate > 0 else { return "" }
        let seconds = max(1, Int(Double(max(0, total - allDone)) / rate))
        let text = seconds < 60 ? "\(seconds) s" : seconds < 3_600 ? "\(seconds / 60) min" : "\(seconds / 3_600) h"
        return ", about \(text) left"
    }

    func line(_ unit: String) -> String {
        let of = total.map { " of about \($0.grouped)" } ?? ""
        if unit == Self.time { return total.map { "\(allDone) of \($0) s" } ?? "\(Int(elapsed)) s" }
        return "\(allDone.grouped)\(of) \(unit), \(Int(rate).grouped)/s\(remaining)"
    }

    /// Returns a progress bar of always the same width, the percentage and the text of ``line(_:)``; a character that
    /// turns and that text if the total is unknown.
    func bar(_ unit: String) -> String {
        guard let share else { return "\(Self.turning[Int(elapsed * 5) % Self.turning.count]) \(line(unit))" }
        let filled = Int(share * Double(Self.cells))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: Self.cells - filled)
            + " \(Int(share * 100))% \(line(unit))"
    }

    private static let cells = 10
    private static let turning = ["|", "/", "-", "\\"]
}

extension ProgressLine: ScanProgress {
    func note(_ line: String) { note(line, level: .info) }

    static let ofCheck: @Sendable (Int?) -> any ScanProgress = { ProgressLine("check", total: $0, isShown: true) }
    static let hidden: @Sendable (Int?) -> any ScanProgress = { ProgressLine("check", total: $0, isShown: false) }
}
