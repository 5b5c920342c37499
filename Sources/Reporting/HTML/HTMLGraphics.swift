import BSON

/// The width of a report's pictures, in units of the SVG coordinates.
///
/// A picture has no text, because it stretches to the width of a page or a phone, and text would stretch with it.
private let width = 1_000.0

/// The values that the HTML template shows for a gauge: amounts that add up towards a limit, as the parts of one bar.
struct HTMLGauge {
    let gaugeID, gaugeTitle, gaugeSummary: String
    let limit, end: String
    /// The position of the limit on the bar, in SVG units and in percent of the width.
    let limitX, limitPercent: String
    let isPassed: Bool
    let amounts: [Amount]

    struct Amount {
        let amount, value, amountLevel, x, extent: String
        let isDrawn: Bool

        /// Returns the parts of a bar, from left to right.
        /// - Parameters:
        ///   - scale: the amount that fills the whole width.
        ///   - least: the smallest width of a part in SVG units, so that every amount above 0 is visible.
        static func pieces(_ amounts: [Report.Amount], scale: Double, least: Double) -> [Amount] {
            var x = 0.0
            return amounts.map { amount in
                let extent = amount.value > 0 ? max(least, Double(amount.value) / scale * width) : 0
                defer { x += extent }
                return Amount(
                    amount: amount.name, value: amount.value.grouped, amountLevel: amount.level.rawValue,
                    x: text(min(x, width - extent)), extent: text(extent), isDrawn: extent > 0)
            }
        }
    }

    init(_ gauge: Report.Gauge, number: Int) {
        gaugeID = "gauge-\(number + 1)"
        (gaugeTitle, gaugeSummary) = (gauge.title, gauge.summary)
        let sum = gauge.amounts.reduce(0) { $0 + $1.value }
        // If the sum is near the limit or above it, the bar ends beyond the limit's mark, so that the mark and the end
        // of the bar can be distinguished.
        let scale = max(Double(gauge.limit), Double(sum) * 1.05, 1)
        let limitShare = Double(gauge.limit) / scale
        (limit, end) = (gauge.limit.grouped, Int(scale).grouped)
        (limitX, limitPercent) = (Self.text(limitShare * width), Self.text(limitShare * 100))
        isPassed = limitShare < 1
        amounts = Amount.pieces(gauge.amounts, scale: scale, least: 4)
    }

    static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}

/// The values that the HTML template shows for a chart: bars one below the other, each in a table row with its figures.
struct HTMLChart {
    let chartTitle, barKind: String
    let heads: [String]
    let legend: [Legend]
    let bars: [Bar]
    let hasLegend: Bool

    struct Legend { let legendName, legendLevel: String }

    struct Bar {
        let bar: String
        let figures: [Figure]
        let pieces: [HTMLGauge.Amount]
    }

    struct Figure { let figure, figureName: String }

    init(_ chart: Report.Chart) {
        (chartTitle, barKind) = (chart.title, chart.kind)
        let names = chart.bars.first?.amounts ?? []
        heads = names.map(\.name)
        legend = names.count > 1 ? names.map { Legend(legendName: $0.name, legendLevel: $0.level.rawValue) } : []
        hasLegend = !legend.isEmpty
        let longest = chart.bars.map { $0.amounts.reduce(0) { $0 + $1.value } }.max() ?? 0
        let scale = Double(max(longest, 1))
        bars = chart.bars.map { bar in
            Bar(
                bar: bar.name, figures: bar.amounts.map { Figure(figure: $0.value.grouped, figureName: $0.name) },
                pieces: HTMLGauge.Amount.pieces(bar.amounts, scale: scale, least: 6))
        }
    }
}

/// The values that the HTML template shows for figures over time, drawn as lines above a common baseline.
struct HTMLSeries {
    let seriesID, seriesTitle, seriesSummary, unit, top, first, last: String
    let lines: [Line]
    let spans: [Span]
    let rows: [Row]
    let hasSpans: Bool

    struct Line {
        let lineName, lineLevel, path, latest: String
        let dots: [Dot]
    }

    /// A value without neighbours, which is drawn as a dot because a line needs two values.
    struct Dot { let cx, cy: String }
    struct Span { let spanX, spanExtent, reason: String }
    struct Row {
        let point: String
        let values: [Report.Fact]
    }

    private static let height = 240.0

    init(_ series: Report.Series, number: Int) {
        seriesID = "series-\(number + 1)"
        (seriesTitle, unit) = (series.title, series.unit)
        let count = max(series.points.count, 1)
        let maximum = Self.rounded(series.lines.flatMap(\.values).compactMap(\.self).max() ?? 0)
        top = Int(maximum).grouped
        (first, last) = (series.points.first ?? "", series.points.last ?? "")
        let step = width / Double(max(count - 1, 1))
        func y(_ value: Double) -> Double { Self.height - value / maximum * (Self.height - 8) }
        lines = series.lines.map { line in
            var (path, isOpen) = ("", false)
            var dots: [Dot] = []
            for (index, value) in line.values.enumerated() {
                guard let value else {
                    isOpen = false
                    continue
                }
                let (cx, cy) = (HTMLGauge.text(Double(index) * step), HTMLGauge.text(y(value)))
                let isAlone = !isOpen && (index + 1 == line.values.count || line.values[index + 1] == nil)
                if isAlone { dots.append(Dot(cx: cx, cy: cy)) } else { path += "\(isOpen ? "L" : "M")\(cx) \(cy)" }
                isOpen = true
            }
            let latest = line.values.last.flatMap(\.self)
            return Line(
                lineName: line.name, lineLevel: line.level.rawValue, path: path,
                latest: series.showsLatest ? latest.map { Int($0.rounded()).grouped } ?? "-" : "", dots: dots)
        }
        spans = series.spans.map { span in
            let x = min(max(span.from * step, 0), width)
            return Span(
                spanX: HTMLGauge.text(x), spanExtent: HTMLGauge.text(max(3, min(span.to * step, width) - x)),
                reason: span.reason)
        }
        hasSpans = !spans.isEmpty
        rows = series.points.enumerated().map { index, point in
            Row(
                point: point,
                values: series.lines.map { line in
                    Report.Fact(
                        name: line.name, value: line.values[index].map { Int($0.rounded()).grouped } ?? "-")
                })
        }
        let ends = series.lines.map { line in
            let values = line.values.compactMap(\.self).map { Int($0.rounded()) }
            return "\(line.name): from \((values.first ?? 0).grouped) to \((values.last ?? 0).grouped), at most "
                + "\((values.max() ?? 0).grouped)"
        }
        seriesSummary = ends.joined(separator: "; ")
    }

    /// Returns a round number for the top of the chart, which is not less than `maximum`.
    private static func rounded(_ maximum: Double) -> Double {
        var unit = 1.0
        while unit * 10 < maximum { unit *= 10 }
        return [1, 2, 2.5, 5, 10].map { $0 * unit }.first { $0 >= maximum && $0.rounded() == $0 } ?? max(maximum, 1)
    }
}
