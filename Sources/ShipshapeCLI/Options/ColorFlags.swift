internal import ArgumentParser
internal import Foundation

/// The flag for colours on standard output and standard error.
struct ColorFlags: ParsableArguments {
    /// When output is coloured.
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case auto, always, never
    }

    @Option(
        help: ArgumentHelp(
            "When to use colours: auto does so on a terminal, unless NO_COLOR is set, or if FORCE_COLOR is.",
            valueName: "auto|always|never"))
    var color = Choice.auto
}

extension Console {
    /// The choice of `--color`; `auto` without the flag.
    ///
    /// The choice is found without the argument parser, because errors can occur before the parser runs.
    private static let color = flag(["--color"]).compactMap(ColorFlags.Choice.init(rawValue:)).last ?? .auto

    /// Whether to use colours.
    ///
    /// With `--color always` or `never`, the flag decides. With `auto`, `NO_COLOR` turns colours off; otherwise,
    /// `FORCE_COLOR` decides if it is set. If neither is set, colours are used on a terminal that shows them.
    static func wantsColor(onTerminal isTerminal: Bool) -> Bool {
        switch color {
        case .always: return true
        case .never: return false
        case .auto:
            let environment = ProcessInfo.processInfo.environment
            if environment["NO_COLOR"]?.isEmpty == false { return false }
            if let forced = environment["FORCE_COLOR"], !forced.isEmpty { return forced != "0" }
            return isTerminal && environment["TERM"] != "dumb"
        }
    }

    /// Whether the terminal of standard error shows links, according to the environment variables that terminals set.
    static var showsLinks: Bool {
        let environment = ProcessInfo.processInfo.environment
        guard isInteractive, color != .never, environment["TERM"] != "dumb" else { return false }
        let marks = ["KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION", "DOMTERM", "WEZTERM_PANE", "GHOSTTY_BIN_DIR"]
        let programs: Set = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "zed"]
        let kinds = ["xterm-kitty", "alacritty", "foot", "contour", "xterm-ghostty", "wezterm"]
        return marks.contains { environment[$0]?.isEmpty == false }
            || programs.contains(environment["TERM_PROGRAM"] ?? "")
            || (environment["VTE_VERSION"].flatMap { Int($0) } ?? 0) >= 5_000
            || kinds.contains { environment["TERM"]?.hasPrefix($0) == true }
    }
}
