package import BSON

extension Array {
    /// The elements in runs of at most so many, and so many bytes, unless one element alone is larger.
    package func slices(count: Int = .max, bytes: Int, size: (Element) -> Int) -> [[Element]] {
        var slices: [[Element]] = []
        var start = 0
        var total = 0
        for (index, element) in enumerated() {
            let added = size(element)
            if index > start, total + added > bytes || index - start == count {
                slices.append(Array(self[start..<index]))
                (start, total) = (index, 0)
            }
            total += added
        }
        return start < endIndex ? slices + [Array(self[start...])] : slices
    }
}

extension [BSONValue] {
    /// A quarter of what the server takes as one document.
    private static var sliceSize: Int { 4 << 20 }
    /// What an element of a list takes besides its value, at most: its type and its number.
    private static var overhead: Int { 10 }

    /// The values in runs that fit a command each: of 4 MiB at most, unless one value alone is larger.
    /// - Parameter count: the most values of a run.
    package func commandSlices(count: Int = .max) -> [[BSONValue]] {
        slices(count: count, bytes: Self.sliceSize) { $0.byteCount + Self.overhead }
    }
}
