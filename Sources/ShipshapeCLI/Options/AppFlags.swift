internal import ArgumentParser
internal import Checking

/// What no export says about the app, and what decides which documents sync.
struct AppFlags: ParsableArguments {
    /// A switch whose position the operator knows.
    enum Switch: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    @Option(
        help: ArgumentHelp(
            "Whether mixed values may be arrays and objects: off for apps created before 2024-05-28.",
            valueName: "on|off"))
    var mixedCollections = Switch.on

    /// What is assumed.
    var assumptions: CheckOptions {
        var options = CheckOptions()
        options.allowsMixedCollections = mixedCollections == .on
        return options
    }
}
