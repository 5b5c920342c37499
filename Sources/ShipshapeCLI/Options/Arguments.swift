internal import ArgumentParser
internal import Concurrency
internal import Glibc

/// A duration, written as on the command line: `500ms`, `30s`, `10m`, `2h`.
struct DurationArgument: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { duration.text }
}

/// A share of documents, such as `99.9%`.
struct CoverArgument: ExpressibleByArgument {
    /// The share, above 0 and at most 1.
    let share: Double

    init?(argument: String) {
        let number = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
        // A number such as 0.999 needs a percent sign, because the user probably means 99.9% and not 0.999%.
        guard let percent = Double(number), percent > 0, percent <= 100, argument.hasSuffix("%") || percent > 1 else {
            return nil
        }
        share = percent / 100
    }

    /// Creates the share 100%, which means all documents.
    init() { share = 1 }

    var defaultValueDescription: String { "100%" }
}
