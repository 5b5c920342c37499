internal import ArgumentParser

/// A rule about two options of a command: they exclude each other, or one of them needs the other.
struct Exclusion<Command>: Sendable {
    /// An option, and whether a command line gives it.
    struct Given: Sendable {
        /// The option as it is typed, such as `--part`.
        let name: String
        let isGiven: @Sendable (Command) -> Bool

        init(_ name: String, _ isGiven: @escaping @Sendable (Command) -> Bool) {
            (self.name, self.isGiven) = (name, isGiven)
        }
    }

    let first, second: Given
    /// Whether `first` needs `second`; otherwise, the options exclude each other.
    let isNeed: Bool
    /// The reason, and what to do, as a clause after the names.
    let reason: String

    /// Returns the rule that a command line gives at most one of two options.
    static func apart(_ first: Given, _ second: Given, _ reason: String) -> Self {
        Self(first: first, second: second, isNeed: false, reason: reason)
    }

    /// Returns the rules that a command line gives at most one of an option and each of the others.
    static func apart(_ first: Given, each others: [Given], _ reason: String) -> [Self] {
        others.map { apart(first, $0, reason) }
    }

    /// Returns the rule that an option needs another one.
    static func needs(_ first: Given, _ second: Given, _ reason: String) -> Self {
        Self(first: first, second: second, isNeed: true, reason: reason)
    }

    var sentence: String {
        isNeed ? "\(first.name) needs \(second.name): \(reason)" : "\(first.name) excludes \(second.name): \(reason)"
    }

    /// Whether a command line breaks the rule.
    func isBroken(by command: Command) -> Bool {
        first.isGiven(command) && second.isGiven(command) != isNeed
    }
}

/// A command with a table of the options that exclude or need each other.
protocol ExcludingCommand: ParsableCommand {
    static var exclusions: [Exclusion<Self>] { get }
}

extension ExcludingCommand {
    typealias Given = Exclusion<Self>.Given

    /// Refuses a command line that breaks a rule of the table.
    /// - Throws: `ValidationError` with the sentence of the first such rule.
    func checkExclusions() throws {
        if let broken = Self.exclusions.first(where: { $0.isBroken(by: self) }) {
            throw ValidationError(broken.sentence)
        }
    }

    func validate() throws { try checkExclusions() }
}
