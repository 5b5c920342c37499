internal import ArgumentParser
internal import Checking

/// What no export says about the app, and what the operator therefore has to.
struct DialectFlags: ParsableArguments {
    /// A switch whose position the operator knows.
    enum Switch: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    @Option(
        help: ArgumentHelp(
            "Whether mixed values may be arrays and objects: off for apps created before 2024-05-28.",
            valueName: "on|off"))
    var mixedCollections = Switch.on

    @Option(
        help: ArgumentHelp(
            "Also ask what data-access validation says of null in optional fields, given the app's null-type switch: off "
                + "makes it a possible failure, on allows it. Sync itself allows it, which is what is checked without "
                + "this option.", valueName: "on|off"))
    var nullTypes: Switch?

    @Flag(
        help: ArgumentHelp(
            "Let collections that clients only write to count in the verdict; they are reported in any case."))
    var includeAsymmetric = false

    @Flag(
        help: ArgumentHelp(
            "Look up what links lead to, and report the links to documents that do not exist or do not sync; slower. "
                + "Such links never fail a check."))
    var followLinks = false

    /// What the check assumes.
    var assumptions: CheckOptions {
        var options = CheckOptions()
        options.allowsMixedCollections = mixedCollections == .on
        options.refusesNulls = nullTypes == .off
        options.countsAsymmetric = includeAsymmetric
        return options
    }
}
