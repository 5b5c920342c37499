import BSON
import ServerSchema

extension Tally {
    /// Whether the active schema covers the collection; `nil` when there is none to compare with.
    var isInActive: Bool? {
        switch active {
        case .notAsked: nil
        case .notCovered: false
        case .covered: true
        }
    }

    /// The groups, the worst and the largest first.
    public var violationGroups: [ViolationGroup] {
        let builder = FilterBuilder(schema: schema)
        let isComparing = counts.changes != nil
        return groups.filter { $0.count > 0 }.map { group in
            let filter = builder.filter(for: group.key)
            return ViolationGroup(
                violation: schema.violation(group.key), count: group.count,
                newCount: isComparing ? group.newCount : nil,
                sampleIDs: group.samples.map(\.id), sampleValues: group.samples.map(\.value),
                exception: group.exception, filter: filter.document, filterIsExact: filter.isExact)
        }.sorted(by: ViolationGroup.isWorse)
    }
}
