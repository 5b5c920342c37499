import Concurrency
import Foundation
import JobState
import Jobs
import Processes

/// Asks an outside program or server, at most once a second, whether a run must wait.
struct VetoAsker {
    private let veto: Veto
    private var lastAsked: ContinuousClock.Instant?
    /// The reason to wait that the last answer gave; `nil` if the run may continue, and before the first answer.
    private(set) var waitReason: WaitReason?

    private static let interval = Duration.seconds(1)

    init(_ veto: Veto) { self.veto = veto }

    /// Asks the outside program or server for its veto, unless its last answer is less than a second old.
    /// - Parameter whileWaiting: called at intervals during the wait for the answer, to keep the lease.
    /// - Throws: ``StopAsked`` after a stop signal; the errors of `whileWaiting`.
    mutating func ask(stop: StopSignal, whileWaiting: () throws -> Void) throws {
        guard lastAsked.map({ $0.duration(to: .now) >= Self.interval }) ?? true else { return }
        let veto = veto
        let task = BackgroundTask(running: { await veto.waitReason() })
        do { waitReason = try task.wait(stop: stop, whileWaiting: whileWaiting) } catch {
            // Cancelling the task ends the outside program, which must end before the run does.
            task.cancel()
            throw error
        }
        lastAsked = .now
    }
}

extension Veto {
    /// Runs the operator's command, or requests the operator's URL; returns why the run must wait now, or `nil` if it
    /// may continue.
    func waitReason() async -> WaitReason? {
        switch asked {
        case .command(let command):
            let outcome = await OutsideCommand(shell: command).runSilently(timeLimit: timeLimit)
            return outcome.isSuccess
                ? nil
                : WaitReason(.veto, metric: "veto by the job's command", value: "\(outcome)", limit: "exit code 0")
        case .http(let url):
            guard let problem = await problem(of: url) else { return nil }
            return WaitReason(.veto, metric: "veto by \(url.host ?? "")", value: problem, limit: "200")
        }
    }

    /// Requests the URL, and returns the problem with the answer; `nil` if its status is 200.
    ///
    /// The request is made by the program `curl`, because it supports TLS and proxies. `curl` reads the URL from its
    /// standard input, because other users can see a program's arguments.
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
        // This time limit is one second longer than the limit of `curl`, so that `curl` itself reports an answer that
        // takes too long.
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
