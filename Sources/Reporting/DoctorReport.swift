/// The findings of `doctor` about a project and its deployment.
package struct DoctorReport: Sendable {
    /// The part of the installation that a finding belongs to.
    package enum Area: String, Sendable, CaseIterable {
        case project, deployment, privileges, state
    }

    /// The result for one thing that `doctor` examined, such as a schema or the oplog.
    package struct Finding: Sendable {
        /// The part of the installation that was examined.
        package var area: Area
        /// The name of the thing, such as `schema` or `oplog`.
        package var name: String
        /// ``Report/Level/good`` if nothing is wrong; otherwise the severity of the problem.
        package var level: Report.Level
        /// The state of the thing, in one clause.
        package var message: String
        /// The steps that solve the problem; `nil` if there is none.
        package var remedy: String?

        package init(_ area: Area, _ name: String, _ level: Report.Level, _ message: String, remedy: String? = nil) {
            (self.area, self.name, self.level, self.message, self.remedy) = (area, name, level, message, remedy)
        }
    }

    /// The connection string without its secrets; `nil` if the user named no deployment.
    package var source: String?
    /// The findings, in the order in which things were examined.
    package var findings: [Finding] = []

    package init() {}

    package func count(of level: Report.Level) -> Int { findings.count { $0.level == level } }

    var areas: [(area: Area, findings: [Finding])] {
        Area.allCases.map { area in (area, findings.filter { $0.area == area }) }.filter { !$0.findings.isEmpty }
    }

    package var worst: Report.Level { findings.map(\.level).max() ?? .good }
}
