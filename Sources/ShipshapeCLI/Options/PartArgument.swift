internal import ArgumentParser
internal import Jobs

/// One of several parts, as an operator writes it: `2/4`.
struct PartArgument: ExpressibleByArgument {
    let part: JobPart

    init?(argument: String) {
        let numbers = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let number = numbers[0], let count = numbers[1],
            let part = JobPart(number: number, count: count)
        else { return nil }
        self.part = part
    }
}
