internal import ArgumentParser
internal import Reporting

/// The command `shipshape explain [CODE]`.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "explain", "[<code>]",
        abstract: "Explains a code that the program printed: what it means, and what to do.",
        examples: [
            "explain powersync-depth",
            "explain required-null",
            "explain",
        ],
        details: """
            A code is that of a rule for documents, of a sync engine's rule, of lint, of a change, or of a remark of \
            infer, a reason to wait, or an exit code. An error of a Prisma client, such as P2032, shows the rules that \
            lead to it. Without a code, all codes are listed. Nothing is asked of a server or of the network.
            """, connects: false)

    @Argument(help: "The code, as the program printed it.")
    var code: String?

    @OptionGroup(title: "Output") var output: OutputFlags

    func run() async throws {
        try output.prepare()
        try output.show(code.map { code throws(UnknownCode) in try ExplainResult(of: code) } ?? ExplainResult())
    }
}
