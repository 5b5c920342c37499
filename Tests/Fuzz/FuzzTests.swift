import Foundation
import Proving
import Synchronization
import Testing

@testable import ShipshapeCLI

/// Tests that no input that was changed at random crashes the program, exceeds a limit, or causes an internal error.
///
/// The limits are 10 seconds of processor time and 300 MB of memory. Every run of the tests tries a few hundred inputs;
/// `scripts/fuzz` tries as many as requested.
@Suite struct FuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let inputs = environment["SHIPSHAPE_FUZZ_INPUTS"].flatMap { Int($0) } ?? 300
    private static let first = environment["SHIPSHAPE_FUZZ_FIRST"].flatMap { Int($0) } ?? 0
    private static let seed = environment["SHIPSHAPE_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1

    /// Each file in `Regressions` once crashed the program, hung it or filled its memory.
    ///
    /// The folder has a subfolder for each kind of input.
    @Test func inputsThatOnceExceededTheLimitsNoLongerDo() throws {
        let folder = try FuzzFolder()
        defer { folder.remove() }
        let kinds = try FuzzKind.all(in: folder)
        #expect(Set(kinds.map(\.fileName)).count == kinds.count)
        #expect(kinds.flatMap(\.regressions).count == Corpus.files("Tests/Fuzz/Regressions", "").count)
        let meter = Meter()
        for kind in kinds { for bytes in kind.regressions { meter.read(bytes, as: kind, "a regression") } }
    }

    @Test func noInputIsTooMuch() throws {
        let folder = try FuzzFolder()
        defer { folder.remove() }
        let wanted = Self.environment["SHIPSHAPE_FUZZ_KIND"]
        let kinds = try FuzzKind.all(in: folder).filter { wanted == nil || $0.name == wanted }
        try #require(!kinds.isEmpty)
        let everything = kinds.flatMap(\.seeds)
        for kind in kinds { for seed in kind.seeds { _ = try? kind.read(seed) } }
        let meter = Meter()
        for kind in kinds { meter.learn(kind) }
        for number in Self.first..<Self.first + Self.inputs {
            let kind = kinds[number % kinds.count]
            // Each input has its own seed, so that it can be repeated without the inputs before it.
            var random = Randomness(seed: Self.seed &* 1_000_003 &+ UInt64(number))
            let origin = random.pick(kind.seeds)
            var mutation = Mutation(random: random)
            let bytes = mutation.mutate(origin, with: random.percent(80) ? kind.seeds : everything)
            meter.read(bytes, as: kind, "input \(number)")
        }
        let worst = meter.worst
        print(
            "fuzz: \(Self.inputs) inputs of \(kinds.count) kinds, \(meter.refused) refused; at most "
                + "\(worst.kilobytes >> 10) MiB and \((worst.seconds * 1_000).rounded() / 1_000) s (\(worst.kind)), "
                + "\((meter.dearest.ratio * 10).rounded() / 10) times the median per byte (\(meter.dearest.name))")
        // If the program refused all inputs, or none, the random changes of the inputs would test nothing.
        if Self.inputs >= 100 { #expect((1..<Self.inputs).contains(meter.refused)) }
    }
}

/// Reads inputs, and measures the time and memory that each takes.
private final class Meter {
    private static let megabytes =
        ProcessInfo.processInfo.environment["SHIPSHAPE_FUZZ_MEGABYTES"].flatMap { Int($0) } ?? 300
    private let watch = Watch(seconds: 10)
    private(set) var refused = 0
    private(set) var worst = (seconds: 0.0, kind: "", kilobytes: 0)
    /// The largest cost per byte, as a multiple of the median of the kind's valid inputs.
    private(set) var dearest = (ratio: 0.0, name: "")
    /// For each kind, the median cost per byte of its valid inputs, and the size of the smallest of them.
    private var usual: [String: (perByte: Double, bytes: Int)] = [:]
    private static let mostRatio = 50.0

    /// Measures the valid inputs of a kind, whose cost the cost of other inputs is compared with.
    func learn(_ kind: FuzzKind) {
        let costs = kind.seeds.map { seed in
            Double(Cost.measure { try kind.parse(seed) }.bytes) / Double(max(1, seed.count))
        }.sorted()
        usual[kind.name] = (costs[costs.count / 2], kind.seeds.map(\.count).min() ?? 1)
    }

    /// Expects that an input costs at most 50 times as much per byte as the kind's valid inputs usually do.
    ///
    /// An input that is smaller than all of them counts as large as the smallest.
    private func compare(_ cost: Cost, of bytes: [UInt8], as kind: FuzzKind, _ name: String) {
        // PCRE writes out a repetition such as {1,65535}, up to limits of its own.
        guard kind.name != "pattern", let usual = usual[kind.name], usual.perByte > 0 else { return }
        let ratio = Double(cost.bytes) / Double(max(bytes.count, usual.bytes)) / usual.perByte
        if ratio > dearest.ratio { dearest = (ratio, "\(kind.name), \(name)") }
        #expect(ratio <= Self.mostRatio, "\(kind.name), \(name): \(ratio) times the median cost per byte")
    }

    func read(_ bytes: [UInt8], as kind: FuzzKind, _ name: String) {
        watch.begin("\(kind.name), \(name)", bytes)
        Memory.forgetPeak()
        let before = Memory.peak
        do { try kind.read(bytes) } catch {
            refused += 1
            #expect(ExitStatus(for: error) != .bug, "\(kind.name), \(name): \(error)")
        }
        let (seconds, kilobytes) = (watch.end(), Memory.peak - before)
        compare(Cost.measure { try kind.parse(bytes) }, of: bytes, as: kind, name)
        #expect(kilobytes < Self.megabytes << 10, "\(kind.name), \(name): \(kilobytes) KiB")
        if seconds > worst.seconds { (worst.seconds, worst.kind) = (seconds, kind.name) }
        worst.kilobytes = max(worst.kilobytes, kilobytes)
    }
}

/// A watchdog that ends the process if one input takes too long, because no other thread can interrupt the reader.
private final class Watch: Sendable {
    private struct State {
        var name = ""
        var start = Double.infinity
    }

    private let state = Mutex(State())
    private let file: String?

    init(seconds: Double) {
        file = ProcessInfo.processInfo.environment["SHIPSHAPE_FUZZ_INPUT"]
        let watch = self
        Thread.detachNewThread {
            while true {
                Thread.sleep(forTimeInterval: 0.5)
                let (name, start) = watch.state.withLock { ($0.name, $0.start) }
                if Self.processorTime - start > seconds { fatalError("fuzz: \(name) takes more than \(seconds) s") }
            }
        }
    }

    /// Starts to measure the time of an input, and saves the input to the file that `SHIPSHAPE_FUZZ_INPUT` names.
    func begin(_ name: String, _ bytes: [UInt8]) {
        if let file { try? Data(bytes).write(to: URL(fileURLWithPath: file)) }
        if let file { try? Data("\(name)\n".utf8).write(to: URL(fileURLWithPath: file + ".name")) }
        state.withLock { $0 = State(name: name, start: Self.processorTime) }
    }

    func end() -> Double {
        state.withLock { state in
            defer { state.start = .infinity }
            return Self.processorTime - state.start
        }
    }

    /// The processor time of the process; unlike wall time, it does not depend on other programs.
    private static var processorTime: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The peak memory of the process.
private enum Memory {
    /// Resets the peak memory to the memory that is in use.
    static func forgetPeak() { try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8) }

    /// The peak memory in KiB since the last reset.
    static var peak: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
}
