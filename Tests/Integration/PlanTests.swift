import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// The jobs that `plan` writes make the documents of one schema fit the other.
@Suite struct PlanTests {
    @Test(arguments: PlanCase.pairs)
    func thePlannedJobsLeaveNoDocumentNewlyFailing(_ name: String) async throws {
        try await PlanCase.with(name) { plan in
            let before = try await plan.check()
            #expect(before.exitCode == 1, "the pair breaks documents: \(before.output)\(before.errors)")

            let planned = try await plan.plan("--uri", plan.backfill.uri, "--fail-on", "none")
            #expect(planned.exitCode == 0, "\(planned.output)\(planned.errors)")
            for run in try await plan.run(plan.jobs) + plan.run(plan.lateJobs) {
                #expect(run.exitCode == 0 || run.exitCode == 1, "\(run.output)\(run.errors)")
            }
            let after = try await plan.check()
            #expect(after.exitCode == 0, "\(after.output)\(after.errors)")
        }
    }
}
