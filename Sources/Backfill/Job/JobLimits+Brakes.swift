import LocatedYAML
import Yams

extension JobLimits {
    static let brakeKeys = ["lag", "flowControl", "tickets", "cache", "oplog", "pause", "ledgerLag"]

    /// Reads the brakes' limits; `off` takes a brake off.
    static func brakes(_ members: YAMLMembers) throws(JobError) -> BrakeLimits {
        var limits = BrakeLimits()
        if let node = members["lag"] { limits.lag = try node.limit("lag", unlessOff: duration) }
        if let node = members["flowControl"] {
            limits.flowControl = try node.limit("flowControl", unlessOff: duration)
        }
        if let node = members["tickets"] { limits.tickets = try node.limit("tickets", unlessOff: percent) }
        if let node = members["cache"] {
            if node.isOff {
                (limits.cacheDirty, limits.cacheUsed) = (nil, nil)
            } else {
                let cache = try node.members(of: "\"cache\"", allowed: ["dirty", "used"])
                if let node = cache["dirty"] { limits.cacheDirty = try node.limit("dirty", unlessOff: percent) }
                if let node = cache["used"] { limits.cacheUsed = try node.limit("used", unlessOff: percent) }
            }
        }
        if let node = members["oplog"] { limits.oplog = try node.limit("oplog", unlessOff: duration) }
        if let node = members["pause"], !node.isOff { limits.pause = try pauses(node) }
        if let node = members["ledgerLag"] { limits.ledgerLag = try duration("ledgerLag", node) }
        return limits
    }

    private static func pauses(_ node: YAMLNode) throws(JobError) -> [PauseWindow] {
        // One window need not be a list.
        let nodes = node.node.scalar == nil ? try node.elements(of: "\"pause\"") : [node]
        var windows: [PauseWindow] = []
        for node in nodes {
            let text = try node.text(of: "\"pause\"")
            do throws(PauseWindowError) { windows.append(try PauseWindow(text)) } catch {
                throw node.error("\"pause\": \(error)")
            }
        }
        return windows
    }

    /// A time such as `500ms`, `10s`, `5m` or `24h`.
    static func duration(_ key: String, _ node: YAMLNode) throws(JobError) -> Duration {
        let text = try node.text(of: "\"\(key)\"")
        let units: KeyValuePairs<String, Int> = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000]
        for (unit, milliseconds) in units where text.hasSuffix(unit) {
            guard let count = Int(text.dropLast(unit.count)), (1...1_000_000).contains(count) else { continue }
            return .milliseconds(count * milliseconds)
        }
        throw node.error("\"\(key)\" must be a time like 10s (ms, s, m, h)")
    }

    private static func percent(_ key: String, _ node: YAMLNode) throws(JobError) -> Int {
        let text = try node.text(of: "\"\(key)\"")
        guard text.hasSuffix("%"), let percent = Int(text.dropLast()), (1...100).contains(percent) else {
            throw node.error("\"\(key)\" must be a percentage from 1% to 100%")
        }
        return percent
    }
}

extension YAMLNode {
    /// YAML 1.1 reads a bare `off` as false; here it is the word.
    fileprivate var isOff: Bool { node.scalar?.string == "off" }

    fileprivate func limit<Value>(
        _ key: String, unlessOff read: (String, YAMLNode) throws(JobError) -> Value
    ) throws(JobError) -> Value? {
        guard !isOff else { return nil }
        do throws(JobError) { return try read(key, self) } catch {
            throw self.error("\(error.message), or off")
        }
    }
}
