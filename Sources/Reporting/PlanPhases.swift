import BSON
import JobReports
import Planning
import SchemaChange

/// The phases of a change, in the order of the work: expand, migrate, deploy and contract.
///
/// A phase without work is left out, and so are all phases of a plan that only repairs documents.
struct PlanPhases {
    let plan: SchemaPlan
    let files: [PlanFile]

    /// A table with a row for each job and each deploy.
    var table: Report.Table {
        Report.Table(
            title: "Phases", columns: ["phase", "what", .number("documents")],
            rows: plan.failing == nil ? rows : [])
    }

    private var rows: [[Report.Cell]] {
        let jobs = files.filter { !$0.job.isDraft }
        guard let first = jobs.first, jobs.contains(where: { $0.job.stage != .anyTime }) else { return [] }
        var rows: [[Report.Cell]] = []
        if let field = plan.expanded { rows.append(["expand", "by hand: \(field), see the notes", ""]) }
        func add(_ phase: JobFolder.Phase, _ stages: Set<Stage>) {
            rows += jobs.filter { stages.contains($0.job.stage) }.map { file in
                let documents = file.job.documents.map { "\($0.needing.grouped) of \($0.all.grouped)" } ?? ""
                return [phase.rawValue, file.path ?? file.job.name, documents].map { Report.Cell($0) }
            }
        }
        add(.migrate, [.beforeDeploy, .whileWarning])
        let recorded = jobs.contains { $0.job.stage == .beforeDeploy } ? " (shipshape job deployed)" : ""
        let how = plan.collections.contains(where: \.isBreaking) ? ", with sync terminated" : recorded
        rows.append(["deploy", first.job.stage == .whileWarning ? "the validator" : "\(first.new)\(how)", ""])
        if jobs.contains(where: { $0.job.stage == .beforeDeploy }) {
            rows.append(["\(JobFolder.Phase.migrate.rawValue)", "again, for what old clients wrote since", ""])
        }
        add(.contract, [.afterDeploy])
        return rows
    }

    /// Returns a note for each order of work that has an outage: how clients of each schema read in the meantime.
    static func notes(on orders: [WorkOrder], of new: String) -> [String] {
        orders.filter(\.hasOutage).map { order in
            func words(_ title: String) -> String { Explanation.statement(title, of: order) }
            let page = " (shipshape explain \(order.rawValue))"
            guard order == .prismaExpand else {
                let between = words("between")
                return between.prefix(1).uppercased() + between.dropFirst() + page
            }
            let (old, next) = (words("old clients read"), words("new clients read"))
            return "No single deploy of \(new) is without an outage: old clients read \(old), and new clients read "
                + "\(next). Without one: "
                + ["before", "between", "after"].map(words).joined(separator: "; ") + page
        }
    }
}

extension SchemaPlan {
    /// The fields that need the phase *expand*, as the phase names them; `nil` if none does.
    fileprivate var expanded: String? {
        let changes = entries.flatMap(\.changes).filter { WorkOrder(of: $0.kind, in: dialect) == .prismaExpand }
        guard let first = changes.first else { return nil }
        let more = changes.count == 1 ? "" : " and \(changes.count - 1) more"
        let pair =
            first.oldPath == first.path ? "\(first.path) and a second field" : "\(first.oldPath) and \(first.path)"
        return "a version with \(pair)\(more), which writes both"
    }
}
