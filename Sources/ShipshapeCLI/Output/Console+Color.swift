internal import Foundation

extension Console {
    /// Whether to use colours.
    ///
    /// `NO_COLOR` turns colours off. Otherwise, `FORCE_COLOR` decides if it is set. If neither is set, colours are used
    /// on a terminal that shows them.
    static func wantsColor(onTerminal isTerminal: Bool) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        if environment["NO_COLOR"]?.isEmpty == false { return false }
        if let forced = environment["FORCE_COLOR"], !forced.isEmpty { return forced != "0" }
        return isTerminal && environment["TERM"] != "dumb"
    }

    /// Whether the terminal of standard error shows links, according to the environment variables that terminals set.
    static var showsLinks: Bool {
        let environment = ProcessInfo.processInfo.environment
        guard isInteractive, environment["NO_COLOR"]?.isEmpty != false, environment["TERM"] != "dumb" else {
            return false
        }
        let marks = ["KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION", "DOMTERM", "WEZTERM_PANE", "GHOSTTY_BIN_DIR"]
        let programs: Set = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "zed"]
        let kinds = ["xterm-kitty", "alacritty", "foot", "contour", "xterm-ghostty", "wezterm"]
        return marks.contains { environment[$0]?.isEmpty == false }
            || programs.contains(environment["TERM_PROGRAM"] ?? "")
            || (environment["VTE_VERSION"].flatMap { Int($0) } ?? 0) >= 5_000
            || kinds.contains { environment["TERM"]?.hasPrefix($0) == true }
    }
}
