internal import ArgumentParser

/// A share of documents, such as `99.9%`.
struct CoverArgument: ExpressibleByArgument {
    /// Above 0, at most 1.
    let share: Double

    init?(argument: String) {
        let number = argument.hasSuffix("%") ? argument.dropLast() : argument[...]
        // A share such as 0.999 is rather meant to be 99.9% than to be less than 1%.
        guard let percent = Double(number), percent > 0, percent <= 100, argument.hasSuffix("%") || percent > 1 else {
            return nil
        }
        share = percent / 100
    }

    /// Every document.
    init() { share = 1 }

    var defaultValueDescription: String { "100%" }
}
