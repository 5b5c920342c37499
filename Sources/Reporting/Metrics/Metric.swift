/// A metric in a Prometheus textfile, with a value for each set of labels.
package struct Metric: Sendable {
    enum Kind: String, Sendable { case gauge, counter }

    package typealias Label = (name: String, value: String)

    private let name: String
    private let kind: Kind
    private let help: String
    private let samples: [(labels: [Label], value: Double)]

    init(_ name: String, _ help: String, _ samples: [(labels: [Label], value: Double)], kind: Kind = .gauge) {
        (self.name, self.kind, self.help, self.samples) = ("shipshape_\(name)", kind, help, samples)
    }

    init(_ name: String, _ help: String, counts: [(labels: [Label], value: Int)]) {
        self.init(name, help, counts.map { ($0.labels, Double($0.value)) })
    }

    init(_ name: String, _ help: String, _ labels: [Label], _ value: Double) {
        self.init(name, help, [(labels, value)])
    }

    init(_ name: String, _ help: String, _ labels: [Label], _ value: Int, kind: Kind = .gauge) {
        self.init(name, help, [(labels, Double(value))], kind: kind)
    }

    /// Returns the metrics in the format of the Prometheus textfile collector, without metrics that have no value.
    static func text(_ metrics: [Metric]) -> String {
        metrics.filter { !$0.samples.isEmpty }.map { metric in
            "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
                + metric.samples.map { "\(series(metric.name, $0.labels)) \(number($0.value))\n" }.joined()
        }.joined()
    }

    /// Returns the value that an earlier file has for a metric with these labels; `nil` if the file has none.
    static func value(of name: String, _ labels: [Label], in text: String) -> Double? {
        let head = "\(series("shipshape_\(name)", labels)) "
        return text.split(separator: "\n").first { $0.hasPrefix(head) }.flatMap { Double($0.dropFirst(head.count)) }
    }

    private static func series(_ name: String, _ labels: [Label]) -> String {
        "\(name){\(labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ","))}"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private static func number(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
}
