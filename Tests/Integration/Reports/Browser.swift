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

        /// The lines of the log about messages in the page's console and about failed network requests.
        var complaints: [Substring] {
            log.split(separator: "\n").filter { $0.contains("CONSOLE") || $0.contains("net_error") }
        }
    }

    /// Opens a file in a window of the given width, runs a script in it, and returns the text that the script evaluates
    /// to.
    static func evaluate(
        _ script: String, on file: FilePath, width: Int, in folder: CommandLineFolder
    ) async throws -> String {
        let page = try String(contentsOfFile: file.string, encoding: .utf8)
        // The page's own policy forbids scripts, so the test opens a copy of the page without that policy.
        let open = page.replacing(/<meta http-equiv="Content-Security-Policy"[^>]*>/, with: "")
        try #require(open != page)
        let copy = try folder.write(
            open.replacing("</body>", with: "<script>document.title = \(script)</script></body>"), to: "measured.html")
        let document = try await self.open(FilePath(copy), in: folder, flags: ["--window-size=\(width),1000"]).document
        let title = try #require(document.firstMatch(of: /<title>([^<]*)<\/title>/))
        return String(title.1)
    }

    /// Opens a file in the browser.
    static func open(_ file: FilePath, in folder: CommandLineFolder, flags: [String] = []) async throws -> Page {
        let path = "/usr/bin/chromium"
        try #require(FileManager.default.isExecutableFile(atPath: path), "scripts/setup --tests installs chromium")
        let result = try await Subprocess.run(
            .path(FilePath(path)),
            arguments: Arguments(
                flags + [
                    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr",
                    "--user-data-dir=\(folder.path.appending("browser").string)", "--dump-dom", "file://\(file.string)",
                ]), input: .none, output: .string(limit: 16 << 20), error: .string(limit: 4 << 20))
        try #require(result.terminationStatus == .exited(0), "\(result.standardError)")
        return Page(document: result.standardOutput, log: result.standardError)
    }
}
