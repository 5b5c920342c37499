package import BSON

extension [BSONValue] {
    /// The values in runs that fit a command each, which the server takes up to 16 MB of.
    /// - Parameters:
    ///   - bytes: the most that a run holds, unless one value alone is larger.
    ///   - count: the most values of a run.
    package func slices(ofBytes bytes: Int, count: Int = .max) -> [[BSONValue]] {
        var slices: [[BSONValue]] = []
        var start = 0
        var size = 0
        for (index, value) in enumerated() {
            let added = BSONDocument([("", value)]).bytes.count
            if index > start, size + added > bytes || index - start == count {
                slices.append(Array(self[start..<index]))
                (start, size) = (index, 0)
            }
            size += added
        }
        return start < endIndex ? slices + [Array(self[start...])] : slices
    }
}
