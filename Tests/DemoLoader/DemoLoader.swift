import ArgumentParser

/// The tool that fills a deployment with the data of the demo app.
@main
struct DemoLoader: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-data", abstract: "Fills a deployment with the data of the demo app.",
        subcommands: [Initiate.self, Load.self, Prisma6.self, Dump.self, Flat.self, Nested.self])
}
