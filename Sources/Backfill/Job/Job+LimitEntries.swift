import Concurrency

extension Job.Limits {
    /// Every limit by its name below `limits`, with its value as a job file spells it.
    package var entries: [(name: String, value: String)] {
        [
            ("chunk.documents", "\(chunkDocuments)"), ("chunk.time", Self.time(chunkTime)),
            ("chunk.bytes", Self.size(chunkBytes)),
            ("lanes", "\(lanes)"), ("unsynced", "\(unsynced)"), ("reserve", reserve.text),
            ("nice", nice == nice.rounded() ? "\(Int(nice))" : "\(nice)"),
        ] + brakes.entries
    }

    private static func time(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000)s" : "\(milliseconds)ms"
    }

    private static func size(_ bytes: Int) -> String {
        for (unit, factor) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] where bytes % factor == 0 {
            return "\(bytes / factor)\(unit)"
        }
        return "\(bytes)"
    }
}

extension Job.Reserve {
    fileprivate var text: String {
        switch self {
        case .documents(let count): "\(count)"
        case .percent(let percent): "\(percent)%"
        }
    }
}
