internal import ArgumentParser
internal import Reporting

/// The command `shipshape explain [TOPIC]`.
struct ExplainCommand: OfflineCommand {
    static let configuration = CommandConfiguration(
        "explain", "[<topic>]",
        abstract: "Explains a code that the program printed, or a topic: what it means, and what to do.",
        examples: [
            "explain powersync-depth",
            "explain connection",
            "explain",
        ],
        details: """
            A code is that of a rule for documents, of a sync engine's rule, of lint, of a change, or of a remark of \
            schema infer, a reason to wait, or an exit code. An error of a Prisma client, such as P2032, shows the \
            rules that lead to it. The topics are \(TopicPages.names.joined(separator: ", ")). \
            Without a topic, all codes are listed. Nothing is asked of a server or of the network.
            """)

    @Argument(help: "A code as the program printed it, or a topic.")
    var topic: String?

    @Option(name: .shortAndLong, help: "The form of the result on standard output.")
    var output = OutputForm.text

    func work() throws -> Work {
        // A page has no progress, and no report besides itself.
        Work("explain", topic ?? "", output: try OutputFlags.parse(["--output", output.rawValue])) { _ in
            .result(try topic.map { topic throws(UnknownCode) in try ExplainResult(of: topic) } ?? ExplainResult())
        }
    }
}
