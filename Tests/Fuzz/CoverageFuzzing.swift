#if SHIPSHAPE_COVERAGE
import Foundation
import Synchronization
import Testing

@testable import ShipshapeCLI

/// Runs the readers under libFuzzer, which keeps each input that reaches new code, and changes it further.
///
/// `scripts/fuzz --coverage` builds these tests, and runs them once for each kind of input.
@Suite struct CoverageFuzzing {
    private static let environment = ProcessInfo.processInfo.environment
    /// The kind of the inputs; a static variable, because libFuzzer's C function cannot capture anything.
    private static let kind = Mutex<FuzzKind?>(nil)

    /// Writes the files that libFuzzer needs: for each kind of input a folder of seeds, a dictionary with the words
    /// that mutations insert, and the list of the kinds.
    @Test func writesSeeds() throws {
        let home = URL(fileURLWithPath: try #require(Self.environment["SHIPSHAPE_FUZZ_SEEDS"]))
        let folder = try FuzzFolder()
        defer { folder.remove() }
        let kinds = try FuzzKind.all(in: folder)
        for kind in kinds {
            let seeds = home.appendingPathComponent(kind.fileName)
            try FileManager.default.createDirectory(at: seeds, withIntermediateDirectories: true)
            for (number, seed) in (kind.seeds + kind.regressions).enumerated() {
                try Data(seed).write(to: seeds.appendingPathComponent("seed-\(number)"))
            }
        }
        let words = Mutation.words.map { word in
            "\"\(word.utf8.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())\"\n"
        }
        try Data(words.joined().utf8).write(to: home.appendingPathComponent("words.dict"))
        let names = kinds.map { "\($0.name)\t\($0.fileName)\n" }
        try Data(names.joined().utf8).write(to: home.appendingPathComponent("kinds.tsv"))
    }

    /// Runs libFuzzer, which ends the process, so this test neither returns nor removes its temporary folder.
    ///
    /// `scripts/fuzz` removes the folder.
    @Test func runs() async throws {
        let folder = try FuzzFolder()
        let name = Self.environment["SHIPSHAPE_FUZZ_KIND"]
        let kind = try FuzzKind.all(in: folder).first { $0.name == name }
        try #require(kind != nil, "SHIPSHAPE_FUZZ_KIND names no kind")
        Self.kind.withLock { $0 = kind }
        let arguments = (Self.environment["SHIPSHAPE_FUZZ_ARGUMENTS"] ?? "").split(separator: "\n").map(String.init)
        // The stack is as large as those of the program's own threads.
        let thread = Thread { Self.drive(["fuzz"] + arguments) }
        thread.stackSize = 8 << 20
        thread.start()
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    private static func drive(_ arguments: [String]) {
        var count = CInt(arguments.count)
        let texts = unsafe arguments.map { unsafe strdup($0) } + [nil]
        unsafe texts.withUnsafeBufferPointer { texts in
            var first = unsafe UnsafeMutablePointer(mutating: texts.baseAddress)
            _ = unsafe runLibFuzzer(&count, &first) { bytes, count in
                unsafe CoverageFuzzing.read(Array(UnsafeBufferPointer(start: bytes, count: count)))
                return 0
            }
        }
    }

    private static func read(_ bytes: [UInt8]) {
        do { try kind.withLock({ $0 })?.read(bytes) } catch {
            if ExitStatus(for: error) == .bug { fatalError("\(error)") }
        }
    }
}

/// Runs libFuzzer without its own `main`: the function `LLVMFuzzerRunDriver` of libclang_rt.fuzzer_no_main.
@_silgen_name("LLVMFuzzerRunDriver")
private func runLibFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ read: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
#endif
