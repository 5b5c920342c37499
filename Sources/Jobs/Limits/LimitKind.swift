import Concurrency
import LocatedYAML
import Yams

/// Reads the value of a limit from a job file, and writes it in the same format.
struct LimitKind<Value>: Sendable {
    let read: @Sendable (_ key: String, YAMLNode) throws(JobError) -> Value
    let text: @Sendable (Value) -> String
}

extension YAMLNode {
    /// Whether the node is the word `off`, which YAML 1.1 reads as false if it has no quotation marks.
    var isOff: Bool { node.scalar?.string == "off" }
}

extension LimitKind {
    /// The format that also allows the word `off`, which means `nil`.
    var orOff: LimitKind<Value?> {
        LimitKind<Value?> { (key, node) throws(JobError) in
            guard !node.isOff else { return nil }
            do throws(JobError) { return try read(key, node) } catch { throw node.error("\(error.message), or off") }
        } text: { value in
            value.map(text) ?? "off"
        }
    }
}

extension LimitKind where Value == Int {
    /// Returns the format of a whole number between two bounds.
    static func count(from smallest: Int, to largest: Int = .max) -> Self {
        Self { (key, node) throws(JobError) in
            let count = try node.integer(of: "\"\(key)\"", atLeast: smallest)
            guard count <= largest else { throw node.error("\"\(key)\" must be from \(smallest) to \(largest)") }
            return count
        } text: {
            "\($0)"
        }
    }

    /// The format of a percentage from 1% to 100%.
    static var percent: Self {
        Self { (key, node) throws(JobError) in
            let text = try node.text(of: "\"\(key)\"")
            guard text.hasSuffix("%"), let percent = Int(text.dropLast()), (1...100).contains(percent) else {
                throw node.error("\"\(key)\" must be a percentage from 1% to 100%")
            }
            return percent
        } text: {
            "\($0)%"
        }
    }

    /// The format of a size in bytes, such as `16MiB`.
    static var size: Self {
        let units: [(name: String, bytes: Int)] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1)]
        return Self { (key, node) throws(JobError) in
            let text = try node.text(of: "\"\(key)\"")
            for unit in units where text.hasSuffix(unit.name) {
                guard let count = Int(text.dropLast(unit.name.count)), count > 0 else { break }
                let (product, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
                if !overflow { return product }
            }
            throw node.error("\"\(key)\" must be a size like 16MiB (KiB, MiB, GiB, or plain bytes)")
        } text: { bytes in
            units.first { bytes % $0.bytes == 0 }.map { "\(bytes / $0.bytes)\($0.name)" } ?? "\(bytes)"
        }
    }
}

extension LimitKind where Value == Double {
    /// Returns the format of a number from 0 to `largest`.
    static func number(to largest: Int) -> Self {
        Self { (key, node) throws(JobError) in
            guard let number = node.node.scalar.flatMap({ Double($0.string) }), (0...Double(largest)).contains(number)
            else {
                throw node.error("\"\(key)\" must be a number from 0 to \(largest)")
            }
            return number
        } text: {
            $0 == $0.rounded() ? "\(Int($0))" : "\($0)"
        }
    }
}

extension LimitKind where Value == Duration {
    /// The format of a time, such as `500ms`, `10s`, `5m` or `24h`.
    static var duration: Self {
        Self { (key, node) throws(JobError) in
            guard let duration = Duration(text: try node.text(of: "\"\(key)\"")), duration > .zero else {
                throw node.error("\"\(key)\" must be a time like 10s (ms, s, m, h)")
            }
            return duration
        } text: {
            $0.text
        }
    }

    /// The format of a time from 10 ms to 10 s.
    ///
    /// The lower bound is about the duration of a round trip. The upper bound is the longest time that a lease can
    /// allow for a write.
    static var chunkTime: Self {
        Self { (key, node) throws(JobError) in
            guard let duration = Duration(text: try node.text(of: "\"\(key)\"")),
                (.milliseconds(10) ... .seconds(10)).contains(duration)
            else { throw node.error("\"\(key)\" must be from 10ms to 10s, like 500ms or 2s") }
            return duration
        } text: {
            $0.text
        }
    }
}

extension LimitKind where Value == Job.Reserve {
    /// The format of a count of documents, or of a percentage from 0% to 100%.
    static var reserve: Self {
        Self { (key, node) throws(JobError) in
            let text = try node.text(of: "\"\(key)\"")
            if text.hasSuffix("%"), let percent = Int(text.dropLast()), (0...100).contains(percent) {
                return .percent(percent)
            }
            guard let count = Int(text), count >= 0 else {
                throw node.error("\"\(key)\" must be a number of documents, or a percentage like 10%")
            }
            return .documents(count)
        } text: {
            switch $0 {
            case .documents(let count): "\(count)"
            case .percent(let percent): "\(percent)%"
            }
        }
    }
}

extension LimitKind where Value == [PauseWindow] {
    /// The format of a pause window, of a list of pause windows, or of `off`.
    static var pauses: Self {
        Self { (key, node) throws(JobError) in
            guard !node.isOff else { return [] }
            // The job file may state a single pause window without a list around it.
            let nodes = node.node.scalar == nil ? try node.elements(of: "\"\(key)\"") : [node]
            var windows: [PauseWindow] = []
            for node in nodes {
                let text = try node.text(of: "\"\(key)\"")
                do throws(PauseWindowError) { windows.append(try PauseWindow(text)) } catch {
                    throw node.error("\"\(key)\": \(error)")
                }
            }
            return windows
        } text: { windows in
            switch windows.count {
            case 0: "off"
            case 1: windows[0].text
            default: "[" + windows.map { "\"\($0.text)\"" }.joined(separator: ", ") + "]"
            }
        }
    }
}
