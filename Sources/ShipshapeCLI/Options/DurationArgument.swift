internal import ArgumentParser

/// A duration as the command line spells it: `500ms`, `30s`, `10m`, `2h`.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        let units: [(suffix: String, milliseconds: Int)] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]
        guard let unit = units.first(where: { argument.hasSuffix($0.suffix) }),
            let count = Int(argument.dropLast(unit.suffix.count)), count >= 0, count <= 1_000_000_000
        else { return nil }
        duration = .milliseconds(count * unit.milliseconds)
    }

    var defaultValueDescription: String {
        let milliseconds = duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000)s" : "\(milliseconds)ms"
    }
}
