internal import ArgumentParser

/// An event for which the operator can name a command.
enum Hook: String, CaseIterable {
    case start, finding, wait, stop, success, alarm
}

/// The options for the metrics file and the hooks, which report on a run to other programs.
struct MonitoringFlags: ParsableArguments {
    /// A command to run at an event, as `EVENT=COMMAND`.
    struct HookArgument: ExpressibleByArgument {
        let event: Hook
        let command: String

        init?(argument: String) {
            let sides = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2, let event = Hook(rawValue: sides[0]) else { return nil }
            (self.event, command) = (event, sides[1])
        }
    }

    @Option(help: ArgumentHelp("Write metrics to this Prometheus textfile.", valueName: "file"), completion: .file())
    var metrics: String?

    @Option(
        help: ArgumentHelp(
            "Run a shell command at an event: \(Hook.allCases.map(\.rawValue).joined(separator: ", ")) (repeatable).",
            discussion: """
                The command gets the event as JSON on standard input, and its name in SHIPSHAPE_EVENT. The mapping on \
                in shipshape.yml names commands, too.
                """,
            valueName: "event=command"))
    var on: [HookArgument] = []

    func validate() throws {
        let events = on.map(\.event)
        if let twice = events.first(where: { event in events.count { $0 == event } > 1 }) {
            throw ValidationError("--on \(twice.rawValue) is given twice: give one command for each event")
        }
    }

    /// Returns the operator's command for an event; `nil` if there is none.
    func command(at event: Hook) -> String? {
        on.first { $0.event == event }?.command ?? Settings.current.file.hooks[event.rawValue]
    }
}
