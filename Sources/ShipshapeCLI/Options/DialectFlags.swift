internal import ArgumentParser
internal import Checking

/// What a check assumes about the app, and what it looks into beside the documents.
struct DialectFlags: ParsableArguments {
    @OptionGroup(title: "The App") var app: AppFlags

    @Option(
        help: ArgumentHelp(
            "Also ask what data-access validation says of null in optional fields, given the app's null-type switch: off "
                + "makes it a possible failure, on allows it. Sync itself allows it, which is what is checked without "
                + "this option.", valueName: "on|off"))
    var nullTypes: AppFlags.Switch?

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
        var options = app.assumptions
        options.refusesNulls = nullTypes == .off
        options.countsAsymmetric = includeAsymmetric
        return options
    }
}
