package import BSON

extension [BSONValue] {
    /// A quarter of what the server takes as one document.
    private static var sliceSize: Int { 4 << 20 }

    /// The values in runs that fit a command each: of 4 MiB at most, unless one value alone is larger.
    /// - Parameter count: the most values of a run.
    package func commandSlices(count: Int = .max) -> [[BSONValue]] {
        var slices: [[BSONValue]] = []
        var start = 0
        var size = 0
        for (index, value) in enumerated() {
            let added = BSONDocument([("", value)]).bytes.count
            if index > start, size + added > Self.sliceSize || index - start == count {
                slices.append(Array(self[start..<index]))
                (start, size) = (index, 0)
            }
            size += added
        }
        return start < endIndex ? slices + [Array(self[start...])] : slices
    }
}
