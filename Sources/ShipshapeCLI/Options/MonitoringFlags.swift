internal import ArgumentParser
internal import Reporting

/// The metrics file and the hooks, which report on a run to other programs.
struct MonitoringFlags: ParsableArguments {
    @Option(help: ArgumentHelp("Keep a Prometheus textfile of the run.", valueName: "file"), completion: .file())
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "A command for the shell to run when the work begins.",
            discussion: "Each hook reads the event as JSON from standard input; SHIPSHAPE_EVENT names it.",
            valueName: "command"))
    var onStart: String?

    @Option(help: ArgumentHelp("The same when the run ends with findings.", valueName: "command"))
    var onFinding: String?

    @Option(help: ArgumentHelp("The same when the run has to wait, and when its reasons change.", valueName: "command"))
    var onWait: String?

    @Option(help: ArgumentHelp("The same when the run is stopped or fails.", valueName: "command"))
    var onStop: String?

    @Option(help: ArgumentHelp("The same when the run ends and nothing is left.", valueName: "command"))
    var onSuccess: String?

    @Option(help: ArgumentHelp("How long a hook may take before it is ended.", valueName: "duration"))
    var hookTimeout = DurationArgument(.seconds(30))

    func validate() throws {
        if hookTimeout.duration <= .zero { throw ValidationError("--hook-timeout must be more than nothing") }
    }

    /// Returns the hook of an event; `nil` if there is none.
    func hook(for event: HookEvent.Kind) -> String? {
        switch event {
        case .start: onStart
        case .finding: onFinding
        case .wait: onWait
        case .stop: onStop
        case .success: onSuccess
        }
    }
}
