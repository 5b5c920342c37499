import Concurrency
import Foundation
import JobState
import Jobs
import Processes

/// Asks somebody else, once a second at most, whether a run may go on.
struct VetoAsker {
    private let veto: Veto
    private var lastAsked: ContinuousClock.Instant?
    /// Why the run has to wait, by the last answer.
    private(set) var hold: Hold?

    private static let interval = Duration.seconds(1)

    init(_ veto: Veto) { self.veto = veto }

    /// Asks, where the last answer is a second old.
    /// - Parameter meanwhile: called now and then while the answer is waited for, to keep the lease.
    /// - Throws: ``StopAsked`` at a signal; what `meanwhile` throws.
    mutating func ask(stop: StopSignal, meanwhile: () throws -> Void) throws {
        guard lastAsked.map({ $0.duration(to: .now) >= Self.interval }) ?? true else { return }
        let veto = veto
        let task = BackgroundTask(running: { await veto.hold() })
        do { hold = try task.wait(stop: stop, meanwhile: meanwhile) } catch {
            // The command must not outlive the run.
            task.cancel()
            throw error
        }
        lastAsked = .now
    }
}

extension Veto {
    /// Why a run has to wait now; `nil` where it may go on.
    func hold() async -> Hold? {
        switch asked {
        case .command(let command):
            let outcome = await OutsideCommand(shell: command).runSilently(timeLimit: timeLimit)
            return outcome.isSuccess
                ? nil : Hold(.veto, metric: "veto by the job's command", value: "\(outcome)", limit: "exit code 0")
        case .http(let url):
            guard let problem = await problem(of: url) else { return nil }
            return Hold(.veto, metric: "veto by \(url.host ?? "")", value: problem, limit: "200")
        }
    }

    /// What the answer is, if not 200.
    ///
    /// The program `curl` asks: it knows TLS and proxies. Its standard input names the URL, as others see the arguments.
    private func problem(of url: URL) async -> String? {
        let address = url.absoluteString.replacing("\\", with: "%5C").replacing("\"", with: "%22")
        let configuration = """
            silent
            globoff
            proto = "=http,https"
            output = "/dev/null"
            write-out = "%{http_code} %{errormsg}"
            max-time = \(timeLimit.seconds)
            url = "\(address)"

            """
        // A second more: what takes too long curl tells itself.
        let (outcome, answer) = await OutsideCommand("curl", ["--disable", "--config", "-"]).ask(
            input: configuration, timeLimit: timeLimit + .seconds(1))
        let (code, message) = (answer.prefix(3), answer.dropFirst(4).prefix(200))
        switch (outcome, code) {
        case (_, "200") where outcome.isSuccess: return nil
        case (.exited, "000"): return "no answer (\(message))"
        case (.exited, _) where code.count == 3: return "answered \(code)"
        default: return "curl \(outcome)"
        }
    }
}
