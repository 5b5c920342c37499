internal import ArgumentParser
internal import Reporting

/// The flags for the metrics file and the hooks, which report on a run to other programs.
struct MonitoringFlags: ParsableArguments {
    @Option(help: ArgumentHelp("Write metrics to this Prometheus textfile.", valueName: "file"), completion: .file())
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "A shell command to run when the work begins.",
            discussion: "Each hook gets the event as JSON on standard input, and its name in SHIPSHAPE_EVENT.",
            valueName: "command"))
    var onStart: String?

    @Option(help: ArgumentHelp("One to run when the run ends with findings.", valueName: "command"))
    var onFinding: String?

    @Option(help: ArgumentHelp("One to run when the run has to wait, or its reasons change.", valueName: "command"))
    var onWait: String?

    @Option(help: ArgumentHelp("One to run when the run is stopped or fails.", valueName: "command"))
    var onStop: String?

    @Option(help: ArgumentHelp("One to run when the run ends and nothing is left to do.", valueName: "command"))
    var onSuccess: String?

    @Option(help: ArgumentHelp("How long a hook may take before it is stopped.", valueName: "duration"))
    var hookTimeout = DurationArgument(.seconds(30))

    func validate() throws {
        if hookTimeout.duration <= .zero { throw ValidationError("--hook-timeout must be more than nothing") }
    }

    /// Returns the operator's command for an event; `nil` if there is none.
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
