import Jobs

extension PlannedJob {
    /// The job itself, or several jobs in order if it has more steps than a job may have.
    var parts: [PlannedJob] {
        guard steps.count > JobFile.maximumSteps else { return [self] }
        var parts: [[PlanEntry]] = [[]]
        var count = 0
        for entry in entries {
            if entry.step != nil {
                if count == JobFile.maximumSteps {
                    parts.append([])
                    count = 0
                }
                count += 1
            }
            parts[parts.count - 1].append(entry)
        }
        return parts.enumerated().map { index, entries in
            var job = self
            (job.entries, job.part) = (entries, Part(number: index + 1, count: parts.count))
            return job
        }
    }
}
