import BSON

/// The figures of a report as HTML, each with its values as text below an SVG picture.
///
/// A picture has no text, because it stretches to the width of a page or a phone, and text would stretch with it.
enum HTMLFigures {
    private static let width = 1_000.0
    private static let height = 240.0

    /// Returns a gauge: amounts that add up towards a limit, as the parts of one bar.
    static func gauge(_ gauge: Report.Gauge, id: String) -> HTML {
        let sum = gauge.amounts.reduce(0) { $0 + $1.value }
        // If the sum is near the limit or above it, the bar ends beyond the limit's mark, so that the mark and the end
        // of the bar can be distinguished.
        let scale = max(Double(gauge.limit), Double(sum) * 1.05, 1)
        let share = Double(gauge.limit) / scale
        let limit = gauge.limit.grouped
        let (mark, end): (HTML, HTML) =
            share < 1
            ? (
                "<path class=\"mark\" d=\"M\(text(share * width)) 0V40\"/>\n",
                """
                <span class="mark" style="left:\(text(share * 100))%">limit \(limit)</span>\
                <span>\(Int(scale).grouped)</span>
                """
            ) : ("", "<span>limit \(limit)</span>")
        return """
            <section class="panel" aria-labelledby="\(id)">
            <h2 id="\(id)">\(gauge.title)</h2>
            <p>\(gauge.summary)</p>
            <svg class="gauge" viewBox="0 0 1000 40" preserveAspectRatio="none" role="img" \
            aria-label="\(gauge.title): \(gauge.summary)">
            <rect class="ground" width="1000" height="40"/>
            \(bar(gauge.amounts, scale: scale, least: 4, height: 40).map { "\n\($0)\n" })
            \(mark)</svg>
            <p class="scale" aria-hidden="true"><span>0</span>\(end)</p>
            <ul class="legend">
            \(gauge.amounts.map { "<li>\(key($0.level))\($0.name) <strong>\($0.value.grouped)</strong></li>\n" })</ul>
            </section>

            """
    }

    /// Returns a chart: bars one below the other, each in a table row with its figures.
    static func chart(_ chart: Report.Chart) -> HTML {
        let amounts = chart.bars.first?.amounts ?? []
        let scale = Double(max(chart.bars.map { $0.amounts.reduce(0) { $0 + $1.value } }.max() ?? 0, 1))
        let rows = chart.bars.map { bar -> HTML in
            """
            <tr><th scope="row">\(bar.name)</th>\
            \(bar.amounts.map { "<td class=\"number\">\($0.value.grouped)</td>" })<td class="bar" aria-hidden="true">\
            <svg viewBox="0 0 1000 10" preserveAspectRatio="none">\
            \(self.bar(bar.amounts, scale: scale, least: 6, height: 10))</svg></td></tr>

            """
        }
        let keys = amounts.map { "<li>\(key($0.level))\($0.name)</li>" as HTML }
        return """
            <section class="panel">
            <div class="scroll" tabindex="0" role="region" aria-label="\(chart.title)">
            <table class="chart">
            <caption>\(chart.title)</caption>
            <thead><tr><th scope="col">\(chart.kind)</th>\(amounts.map { head($0.name) })\
            <td class="bar" aria-hidden="true"></td></tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>
            </div>
            \(keys.count > 1 ? "<ul class=\"legend\" aria-hidden=\"true\">\(keys)</ul>\n" : "" as HTML)</section>

            """
    }

    /// Returns figures over time, drawn as lines above a common baseline.
    static func series(_ series: Report.Series, id: String) -> HTML {
        let maximum = rounded(series.lines.flatMap(\.values).compactMap(\.self).max() ?? 0)
        let step = width / Double(max(series.points.count - 1, 1))
        let ends = series.lines.map { line in
            let values = line.values.compactMap(\.self).map { Int($0.rounded()) }
            return "\(line.name): from \((values.first ?? 0).grouped) to \((values.last ?? 0).grouped), at most "
                + "\((values.max() ?? 0).grouped)"
        }
        let spans = series.spans.map { span -> HTML in
            let x = min(max(span.from * step, 0), width)
            let extent = max(3, min(span.to * step, width) - x)
            return """
                <rect class="span" x="\(text(x))" width="\(text(extent))" height="240"><title>\(span.reason)</title></rect>

                """
        }
        let legend = series.lines.map { line -> HTML in
            let latest = series.showsLatest ? figure(line.values.last.flatMap(\.self)) : ""
            return "<li>\(key(line.level))\(line.name) <strong>\(latest)</strong></li>\n"
        }
        let rows = series.points.enumerated().map { index, point -> HTML in
            let values = series.lines.map { "<td class=\"number\">\(figure($0.values[index]))</td>" as HTML }
            return "<tr><th scope=\"row\">\(point)</th>\(values)</tr>\n"
        }
        return """
            <section class="panel" aria-labelledby="\(id)">
            <h2 id="\(id)">\(series.title)</h2>
            <div class="plot">
            <p class="axis" aria-hidden="true">\(Int(maximum).grouped) \(series.unit)</p>
            <svg class="lines" viewBox="0 0 1000 240" preserveAspectRatio="none" role="img" \
            aria-label="\(series.title). \(ends.joined(separator: "; "))">
            \(spans)<path class="grid" d="M0 8H1000M0 124H1000M0 240H1000"/>
            \(series.lines.map { path($0, step: step, maximum: maximum) })</svg>
            <p class="scale" aria-hidden="true"><span>\(series.points.first ?? "")</span>\
            <span>\(series.points.last ?? "")</span></p>
            </div>
            <ul class="legend">
            \(legend)\(spans.isEmpty ? "" : "<li><span class=\"key span\"></span>waiting</li>\n" as HTML)</ul>
            <details>
            <summary>The figures</summary>
            <div class="scroll" tabindex="0" role="region" aria-label="The figures of: \(series.title)">
            <table>
            <thead><tr><th scope="col">when</th>\(series.lines.map { head($0.name) })</tr></thead>
            <tbody>
            \(rows)</tbody>
            </table>
            </div>
            </details>
            </section>

            """
    }

    /// Returns the line of a series; a value without neighbours is drawn as a dot, because a line needs two values.
    private static func path(_ line: Report.Series.Line, step: Double, maximum: Double) -> HTML {
        var (path, isOpen) = ("", false)
        var dots: [HTML] = []
        for (index, value) in line.values.enumerated() {
            guard let value else {
                isOpen = false
                continue
            }
            let point = "\(text(Double(index) * step)) \(text(height - value / maximum * (height - 8)))"
            if !isOpen && (index + 1 == line.values.count || line.values[index + 1] == nil) {
                dots.append("<path class=\"line dot \(line.level)\" d=\"M\(point)h0.01\"/>\n")
            } else {
                path += (isOpen ? "L" : "M") + point
            }
            isOpen = true
        }
        return "<path class=\"line \(line.level)\" d=\"\(path)\"/>\n\(dots)"
    }

    /// Returns the parts of a bar, from left to right.
    /// - Parameters:
    ///   - scale: the amount that fills the whole width.
    ///   - least: the smallest width of a part in SVG units, so that every amount above 0 is visible.
    private static func bar(_ amounts: [Report.Amount], scale: Double, least: Double, height: Int) -> [HTML] {
        var x = 0.0
        return amounts.filter { $0.value > 0 }.map { amount in
            let extent = max(least, Double(amount.value) / scale * width)
            defer { x += extent }
            return """
                <rect class="fill \(amount.level)" x="\(text(min(x, width - extent)))" width="\(text(extent))" \
                height="\(height)"/>
                """
        }
    }

    private static func key(_ level: Report.Level) -> HTML { "<span class=\"key \(level)\"></span>" }

    private static func head(_ title: String) -> HTML { "<th scope=\"col\" class=\"number\">\(title)</th>" }

    private static func figure(_ value: Double?) -> String { value.map { Int($0.rounded()).grouped } ?? "-" }

    private static func text(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// Returns a round number for the top of the chart, which is not less than `maximum`.
    private static func rounded(_ maximum: Double) -> Double {
        var unit = 1.0
        while unit * 10 < maximum { unit *= 10 }
        return [1, 2, 2.5, 5, 10].map { $0 * unit }.first { $0 >= maximum && $0.rounded() == $0 } ?? max(maximum, 1)
    }
}
