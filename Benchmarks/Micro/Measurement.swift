import BSON

/// The results of one benchmark.
struct Measurement {
    let name: String
    let bytes: Int
    let items: Int
    /// The name of the items that the benchmark processes, such as "documents".
    let unit: String
    /// The processor time of each run in seconds, in ascending order.
    let seconds: [Double]
    /// The number of allocations of one run; `nil` if allocations were not counted.
    let allocations: Int?

    var median: Double {
        let middle = seconds.count / 2
        return seconds.count % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2
    }

    var allocationsPerItem: Double? { allocations.map { Double($0) / Double(items) } }

    /// Returns how many bytes or items are processed in one second, if `amount` of them take `seconds`.
    func rate(_ amount: Int, in seconds: Double) -> Double { Double(amount) / seconds }

    fileprivate var cells: [String] {
        let (least, most) = (seconds.first ?? 0, seconds.last ?? 0)
        return [
            name, (median * 1000).text(1), "\((least * 1000).text(1)) to \((most * 1000).text(1))",
            (rate(bytes, in: median) / 1e9).text(3), rate(items, in: median).text(0), unit,
            allocationsPerItem?.text(3) ?? "-",
        ]
    }

    fileprivate var document: BSONDocument {
        [
            "name": .string(name), "unit": .string(unit), "items": .integer(items), "bytes": .integer(bytes),
            "seconds": .array(of: seconds.map { .double($0) }), "median_seconds": .double(median),
            "bytes_per_second": .double(rate(bytes, in: median)),
            "items_per_second": .double(rate(items, in: median)),
            "allocations_per_item": allocationsPerItem.map { .double($0) } ?? .null,
        ]
    }
}

extension [Measurement] {
    /// The measurements as a table with aligned columns: text on the left, numbers on the right.
    var table: String {
        let head = ["benchmark", "median ms", "range ms", "GB/s", "per second", "of", "allocations each"]
        let rows = [head] + map(\.cells)
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.indices.map { column in
                let space = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 || column == 5 ? row[column] + space : space + row[column]
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// The measurements as one JSON document.
    var json: String {
        get throws {
            let document: BSONDocument = [
                "schema_version": 1, "clock": "thread processor time",
                "benchmarks": .array(of: map { .object($0.document) }),
            ]
            return try document.extendedJSON(.relaxed)
        }
    }
}

extension Double {
    /// Returns the number as a text with this many decimal places.
    fileprivate func text(_ digits: Int) -> String {
        let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
        let units = Int((self * Double(scale)).rounded())
        guard digits > 0 else { return "\(units)" }
        let fraction = "\(units % scale)"
        return "\(units / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
