import Foundation
import Subprocess
import SystemPackage
import Testing

/// Opens pages in the browser that `scripts/setup --tests` installs, without a window.
struct Browser {
    /// The result of opening a page.
    struct Page {
        /// The page's elements and texts after it has loaded.
        let document: String
        /// The browser's log, which includes the page's errors.
        let log: String

        /// The text that a reader sees, without the tags.
        var text: String {
            document.replacing(/<(style|title)>[\s\S]*?<\/(style|title)>/, with: "").replacing(/<[^>]*>/, with: " ")
                .replacing("&amp;", with: "&").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
                .replacing("&quot;", with: "\"").replacing(/\s+/, with: " ")
        }

        /// The lines of the log with complaints of the page's console, or about network requests.
        var complaints: [Substring] {
            log.split(separator: "\n").filter { $0.contains("CONSOLE") || $0.contains("net_error") }
        }
    }

    /// Opens a file in the browser.
    static func open(_ file: FilePath, in folder: CommandLineFolder) async throws -> Page {
        let path = "/usr/bin/chromium"
        try #require(FileManager.default.isExecutableFile(atPath: path), "scripts/setup --tests installs chromium")
        let result = try await Subprocess.run(
            .path(FilePath(path)),
            arguments: [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr",
                "--user-data-dir=\(folder.path.appending("browser").string)", "--dump-dom", "file://\(file.string)",
            ], input: .none, output: .string(limit: 16 << 20), error: .string(limit: 4 << 20))
        try #require(result.terminationStatus == .exited(0), "\(result.standardError)")
        return Page(document: result.standardOutput, log: result.standardError)
    }
}
