internal import ArgumentParser
internal import Concurrency

/// A duration as the command line spells it: `500ms`, `30s`, `10m`, `2h`.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.text }
}
