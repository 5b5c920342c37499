import LocatedYAML
import Yams

/// Reads a job's `limits`.
enum JobLimits {
    static func read(_ node: YAMLNode?) throws(JobError) -> Job.Limits {
        var limits = Job.Limits()
        guard let node else { return limits }
        let members = try node.members(
            of: "\"limits\"", allowed: ["chunk", "lanes", "unsynced", "reserve", "nice"] + brakeKeys)
        limits.brakes = try brakes(members)
        if let chunk = try members["chunk"]?.members(of: "\"chunk\"", allowed: ["documents", "time", "bytes"]) {
            if let node = chunk["documents"] {
                limits.chunkDocuments = try node.integer(of: "\"documents\"", atLeast: 1)
            }
            if let node = chunk["time"] { limits.chunkTime = try time(node) }
            if let node = chunk["bytes"] { limits.chunkBytes = try bytes(node) }
        }
        if let node = members["lanes"] {
            limits.lanes = try node.integer(of: "\"lanes\"", atLeast: 1)
            guard limits.lanes <= Job.Limits.mostLanes else {
                throw node.error("\"lanes\" must be from 1 to \(Job.Limits.mostLanes)")
            }
        }
        if let node = members["unsynced"] { limits.unsynced = try node.integer(of: "\"unsynced\"", atLeast: 1) }
        if let node = members["reserve"] { limits.reserve = try reserve(node) }
        if let node = members["nice"] {
            guard let nice = node.node.scalar.flatMap({ Double($0.string) }), (0...100).contains(nice) else {
                throw node.error("\"nice\" must be a number from 0 to 100")
            }
            limits.nice = nice
        }
        guard limits.ceiling > 0 else {
            throw JobError(
                "the reserve is not below the limit of \(limits.unsynced) unsynced documents: nothing could be written",
                at: (members["reserve"] ?? node).location, isConfiguration: true)
        }
        return limits
    }

    private static func time(_ node: YAMLNode) throws(JobError) -> Duration {
        let text = try node.text(of: "\"time\"")
        let units: KeyValuePairs<String, Int> = ["ms": 1, "s": 1_000]
        for (unit, factor) in units where text.hasSuffix(unit) {
            // From what a round trip takes to what the lease of a run lets a write take.
            guard let count = Int(text.dropLast(unit.count)), (1...10_000).contains(count) else { break }
            if (10...10_000).contains(count * factor) { return .milliseconds(count * factor) }
        }
        throw node.error("\"time\" must be from 10ms to 10s, like 500ms or 2s")
    }

    private static func bytes(_ node: YAMLNode) throws(JobError) -> Int {
        let text = try node.text(of: "\"bytes\"")
        let units: KeyValuePairs<String, Int> = ["KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "": 1]
        for (unit, factor) in units where text.hasSuffix(unit) {
            let digits = text.dropLast(unit.count)
            guard let count = Int(digits), count > 0 else { break }
            let (product, overflow) = count.multipliedReportingOverflow(by: factor)
            if !overflow { return product }
        }
        throw node.error("\"bytes\" must be a size like 16MiB (KiB, MiB, GiB, or plain bytes)")
    }

    private static func reserve(_ node: YAMLNode) throws(JobError) -> Job.Reserve {
        let text = try node.text(of: "\"reserve\"")
        if text.hasSuffix("%"), let percent = Int(text.dropLast()), (0...100).contains(percent) {
            return .percent(percent)
        }
        guard let count = Int(text), count >= 0 else {
            throw node.error("\"reserve\" must be a number of documents, or a percentage like 10%")
        }
        return .documents(count)
    }
}
