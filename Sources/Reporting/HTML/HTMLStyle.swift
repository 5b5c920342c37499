/// The style sheet of an HTML report: for screens in light and dark mode, for phones, and for print.
///
/// Each text colour has a contrast of at least 4.5 to 1 with its background, and no meaning depends on colour alone.
enum HTMLStyle {
    static let text = """
        :root {
          color-scheme: light dark;
          --page: #f4f6f8; --card: #fff; --ink: #17212b; --soft: #52606d; --line: #d9e0e7; --ground: #e6ebf0; --code: \
        #f0f3f6;
          --good: #1a7040; --notice: #2a5f9e; --warning: #8a5300; --error: #b3261e;
          --good-fill: #3a9d63; --notice-fill: #6d8fb8; --warning-fill: #e0a030; --error-fill: #d1453b;
          --good-tint: #e5f4eb; --notice-tint: #e8f0f9; --warning-tint: #fdf1dc; --error-tint: #fce9e7;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #0f151b; --card: #182029; --ink: #e8edf2; --soft: #a3b1bf; --line: #2d3a47; --ground: #2a3642; \
        --code: #111820;
            --good: #7fd8a4; --notice: #96c1f2; --warning: #f5c464; --error: #ff9d94;
            --good-fill: #3fa56b; --notice-fill: #6b94c4; --warning-fill: #d99a2b; --error-fill: #e2574c;
            --good-tint: #16301f; --notice-tint: #182a3f; --warning-tint: #352811; --error-tint: #3b1c19;
          }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe \
        UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; }
        h1, h2, p, ul, dl, dd { margin: 0; }
        .banner, main, footer { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
        .good { --tone: var(--good); --fill: var(--good-fill); --tint: var(--good-tint); }
        .notice { --tone: var(--notice); --fill: var(--notice-fill); --tint: var(--notice-tint); }
        .warning { --tone: var(--warning); --fill: var(--warning-fill); --tint: var(--warning-tint); }
        .error { --tone: var(--error); --fill: var(--error-fill); --tint: var(--error-tint); }
        .sheet { position: absolute; width: 0; height: 0; }
        .icon { width: 1em; height: 1em; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; \
        stroke-linejoin: round; flex: none; }
        .banner { padding-top: 2rem; padding-bottom: .25rem; }
        .eyebrow { color: var(--soft); font-size: .8rem; font-weight: 600; letter-spacing: .04em; }
        h1 { font-size: 1.15rem; font-weight: 600; overflow-wrap: anywhere; }
        .headline { display: flex; gap: .75rem; align-items: center; margin-top: 1rem; padding: 1rem 1.15rem; \
        border-radius: .75rem; background: var(--tint); color: var(--tone); font-size: 1.3rem; font-weight: 650; \
        line-height: 1.35; }
        .disc { display: grid; place-items: center; flex: none; width: 2.1rem; height: 2.1rem; border-radius: 50%; \
        background: var(--tone); color: var(--tint); }
        .parts { display: flex; flex-wrap: wrap; gap: 1rem; margin-top: 1rem; }
        .card, .panel, .findings { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; \
        padding: 1rem 1.15rem; }
        .card { flex: 1 1 17rem; border-top: .25rem solid var(--fill); }
        h2 { font-size: 1rem; font-weight: 650; overflow-wrap: anywhere; }
        .card.long { flex-basis: 100%; }
        .card.long ul { columns: 24rem 2; column-gap: 2.5rem; }
        .card.long li { break-inside: avoid; }
        .card h2 { display: flex; justify-content: space-between; align-items: center; gap: .5rem; }
        .card h2::first-letter { text-transform: uppercase; }
        .sentence { margin-top: .4rem; overflow-wrap: anywhere; }
        .card ul, .notes ul { margin: .5rem 0 0; padding-left: 1.1rem; color: var(--soft); font-size: .875rem; \
        overflow-wrap: anywhere; }
        li + li { margin-top: .2rem; }
        .badge { display: inline-flex; align-items: center; gap: .3em; padding: .1em .55em; border-radius: 1em; \
        background: var(--tint); color: var(--tone); font-size: .8rem; font-weight: 600; white-space: nowrap; }
        .facts { --least: 7.5rem; --two-rows: calc((var(--count) * var(--least) - 100%) * 9999); display: grid; \
        grid-template-columns: repeat(auto-fit, minmax(max(var(--least), min(100% / var(--half), var(--two-rows))), \
        1fr)); margin-top: 1rem; overflow: hidden; border: 1px solid var(--line); border-radius: .75rem; background: \
        var(--card); }
        .facts div { padding: .75rem 1rem; box-shadow: 1px 1px 0 var(--line); }
        .facts dt { color: var(--soft); font-size: .8rem; }
        .facts dd { font-size: 1.25rem; font-weight: 650; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
        .panel, .findings { margin-top: 1rem; }
        .panel > p, .summary, .remark { color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
        .remark, .source { margin-top: .5rem; }
        .source { color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
        .next code, pre code { user-select: all; }
        .next code { padding: .2em .5em; border-radius: .3em; background: var(--code); overflow-wrap: anywhere; }
        .gauge { display: block; width: 100%; height: 1.9rem; margin-top: .75rem; border-radius: .4rem; }
        .ground { fill: var(--ground); }
        .fill { fill: var(--fill); }
        .gauge .fill, .chart .fill { stroke: var(--card); stroke-width: 1; vector-effect: non-scaling-stroke; }
        path.mark { stroke: var(--ink); stroke-width: 2.5; vector-effect: non-scaling-stroke; }
        .scale { position: relative; display: flex; justify-content: space-between; margin-top: .2rem; \
        font-variant-numeric: tabular-nums; }
        p.scale, .axis { color: var(--soft); font-size: .8rem; }
        .scale .mark { position: absolute; transform: translateX(-50%); color: var(--ink); font-weight: 650; \
        white-space: nowrap; }
        .legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin-top: .6rem; padding: 0; list-style: none; \
        font-size: .875rem; }
        .legend li { margin: 0; }
        .legend strong { font-variant-numeric: tabular-nums; }
        .key { display: inline-block; width: .75rem; height: .75rem; margin-right: .4rem; border-radius: .2rem; \
        background: var(--fill); }
        .key.span { background: var(--warning-fill); opacity: .35; }
        .plot { margin-top: .5rem; }
        .lines { display: block; width: 100%; height: 11rem; overflow: visible; }
        .grid { fill: none; stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
        .line { fill: none; stroke: var(--fill); stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round; \
        vector-effect: non-scaling-stroke; }
        .dot { stroke-width: 7; }
        rect.span { fill: var(--warning-fill); opacity: .25; }
        details { margin-top: .6rem; font-size: .875rem; }
        summary { cursor: pointer; color: var(--notice); }
        .charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 32rem), 1fr)); gap: 0 1rem; \
        align-items: start; }
        .scroll { overflow-x: auto; }
        table { width: 100%; border-collapse: collapse; font-size: .9rem; }
        caption { padding-bottom: .4rem; font-size: 1rem; font-weight: 650; text-align: left; }
        th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; \
        overflow-wrap: break-word; }
        th:first-child, td:first-child { padding-left: 0; }
        th:last-child, td:last-child { padding-right: 0; }
        thead th { color: var(--soft); font-size: .8rem; font-weight: 600; overflow-wrap: normal; }
        tbody th { font-weight: 500; }
        .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .chart thead .number { white-space: normal; }
        .chart tbody th { min-width: 7rem; overflow-wrap: anywhere; }
        .chart .bar { width: 38%; min-width: 4rem; vertical-align: middle; }
        .chart svg { display: block; width: 100%; min-width: 2.5rem; height: .8rem; border-radius: .2rem; }
        table tbody:last-child tr:last-child > * { border-bottom: 0; }
        code, pre { font: .85rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        .headline code { font-size: 1em; }
        pre { margin: .35rem 0 0; padding: .5rem .7rem; border-radius: .4rem; background: var(--code); white-space: \
        pre-wrap; overflow-wrap: anywhere; user-select: all; -webkit-user-select: all; }
        .cards { margin-top: .6rem; }
        .cards td { overflow-wrap: anywhere; }
        .cards td.words { min-width: 4.5rem; }
        .cards tbody tr:first-child td { border-bottom: 0; }
        .cards .more td { padding: 0 0 .8rem; color: var(--soft); }
        .cards .more pre { color: var(--ink); }
        .cards .more p + p { margin-top: .15rem; }
        footer { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .25rem 2rem; margin-top: 1.5rem; \
        padding-bottom: 2.5rem; color: var(--soft); font-size: .85rem; }
        :focus-visible { outline: 2px solid var(--notice); outline-offset: 2px; }
        @media (max-width: 44rem) {
          .banner, main, footer { padding-left: .9rem; padding-right: .9rem; }
          .banner { padding-top: 1.2rem; }
          .headline { font-size: 1.1rem; align-items: flex-start; }
          .facts { grid-template-columns: 1fr 1fr; }
          .facts div:last-child:nth-child(odd) { grid-column: 1 / -1; }
          .cards, .cards tbody, .cards tr, .cards td { display: block; }
          .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          .cards tbody { padding: .5rem 0; border-bottom: 1px solid var(--line); }
          .cards td, .cards td:first-child { display: flex; justify-content: space-between; gap: 1rem; padding: .12rem \
        0; border: 0; text-align: right; white-space: normal; }
          .cards td::before { content: attr(data-label); flex: none; color: var(--soft); text-align: left; }
          .cards .more td { display: block; padding: .3rem 0 0; text-align: left; }
          .cards .more td::before { content: none; }
          .chart th + th, .chart td { padding-left: .25rem; padding-right: .25rem; }
          .chart tbody th { min-width: 5.6rem; padding-right: .25rem; }
          .chart .bar { width: 18%; min-width: 3rem; }
        }
        @media print {
          :root {
            color-scheme: light;
            --page: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --ground: #e4e4e4; --code: #f2f2f2;
            --good: #1a7040; --notice: #2a5f9e; --warning: #8a5300; --error: #b3261e;
            --good-fill: #3a9d63; --notice-fill: #6d8fb8; --warning-fill: #e0a030; --error-fill: #d1453b;
            --good-tint: #e5f4eb; --notice-tint: #e8f0f9; --warning-tint: #fdf1dc; --error-tint: #fce9e7;
          }
          * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
          html { font-size: 10.5px; }
          body { font-size: 1rem; }
          .banner, main, footer { max-width: none; padding: 0; }
          .card, .panel, .cards tbody { break-inside: avoid; }
          h2, caption, thead { break-after: avoid; }
          details:not([open]) { display: none; }
          .scroll { overflow: visible; }
        }
        @page { margin: 14mm; }

        """
}
