/// The Mustache template of an HTML report, which sets the parts of the report and their order.
///
/// The template is part of the program, because the program is a single file without resources.
enum HTMLTemplate {
    static let text = #"""
        {{% CONTENT_TYPE: REPORT}}<!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
        <link rel="icon" href="data:,">
        <title>{{title}}</title>
        <style>
        {{{style}}}</style>
        </head>
        <body>
        <svg class="sheet" aria-hidden="true" focusable="false">
        <symbol id="icon-good" viewBox="0 0 16 16"><path d="M3 8.5l3.2 3.2L13 4.8"/></symbol>
        <symbol id="icon-notice" viewBox="0 0 16 16"><path d="M8 7v5M8 4v.4"/></symbol>
        <symbol id="icon-warning" viewBox="0 0 16 16"><path d="M8 3.5v5.5M8 12v.4"/></symbol>
        <symbol id="icon-error" viewBox="0 0 16 16"><path d="M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6"/></symbol>
        </svg>
        <header class="banner {{level}}">
        <p class="eyebrow">shipshape {{command}}</p>
        <h1>{{title}}</h1>
        <p class="headline"><span class="disc {{level}}"><svg class="icon" aria-hidden="true"><use href="#icon-{{level}}"/></svg></span><span>{{headline}}</span></p>
        </header>
        <main>
        {{^empty(parts)}}
        <section class="parts" aria-label="The parts of the verdict">
        {{#parts}}
        <article class="card {{partLevel}}{{#isLong}} long{{/isLong}}">
        <h2>{{part}} <span class="badge {{partLevel}}"><svg class="icon" aria-hidden="true"><use href="#icon-{{partLevel}}"/></svg>{{word}}</span></h2>
        <p class="sentence">{{sentence}}</p>
        {{#hasReasons}}
        <ul>
        {{#reasons}}
        <li>{{.}}</li>
        {{/reasons}}
        </ul>
        {{/hasReasons}}
        </article>
        {{/parts}}
        </section>
        {{/empty(parts)}}
        {{^empty(facts)}}
        <dl class="facts" style="--count:{{factCount}};--half:{{factHalf}}">
        {{#facts}}
        <div><dt>{{name}}</dt><dd>{{value}}</dd></div>
        {{/facts}}
        </dl>
        {{/empty(facts)}}
        {{#gauges}}
        <section class="panel" aria-labelledby="{{gaugeID}}">
        <h2 id="{{gaugeID}}">{{gaugeTitle}}</h2>
        <p>{{gaugeSummary}}</p>
        <svg class="gauge" viewBox="0 0 1000 40" preserveAspectRatio="none" role="img" aria-label="{{gaugeTitle}}: {{gaugeSummary}}">
        <rect class="ground" width="1000" height="40"/>
        {{#amounts}}{{#isDrawn}}
        <rect class="fill {{amountLevel}}" x="{{x}}" width="{{extent}}" height="40"/>
        {{/isDrawn}}{{/amounts}}
        {{#isPassed}}
        <path class="mark" d="M{{limitX}} 0V40"/>
        {{/isPassed}}
        </svg>
        <p class="scale" aria-hidden="true"><span>0</span>{{#isPassed}}<span class="mark" style="left:{{limitPercent}}%">limit {{limit}}</span><span>{{end}}</span>{{/isPassed}}{{^isPassed}}<span>limit {{limit}}</span>{{/isPassed}}</p>
        <ul class="legend">
        {{#amounts}}
        <li><span class="key {{amountLevel}}"></span>{{amount}} <strong>{{value}}</strong></li>
        {{/amounts}}
        </ul>
        </section>
        {{/gauges}}
        {{#series}}
        <section class="panel" aria-labelledby="{{seriesID}}">
        <h2 id="{{seriesID}}">{{seriesTitle}}</h2>
        <div class="plot">
        <p class="axis" aria-hidden="true">{{top}} {{unit}}</p>
        <svg class="lines" viewBox="0 0 1000 240" preserveAspectRatio="none" role="img" aria-label="{{seriesTitle}}. {{seriesSummary}}">
        {{#spans}}
        <rect class="span" x="{{spanX}}" width="{{spanExtent}}" height="240"><title>{{reason}}</title></rect>
        {{/spans}}
        <path class="grid" d="M0 8H1000M0 124H1000M0 240H1000"/>
        {{#lines}}
        <path class="line {{lineLevel}}" d="{{path}}"/>
        {{#dots}}
        <path class="line dot {{lineLevel}}" d="M{{cx}} {{cy}}h0.01"/>
        {{/dots}}
        {{/lines}}
        </svg>
        <p class="scale" aria-hidden="true"><span>{{first}}</span><span>{{last}}</span></p>
        </div>
        <ul class="legend">
        {{#lines}}
        <li><span class="key {{lineLevel}}"></span>{{lineName}} <strong>{{latest}}</strong></li>
        {{/lines}}
        {{#hasSpans}}
        <li><span class="key span"></span>waiting</li>
        {{/hasSpans}}
        </ul>
        <details>
        <summary>The figures</summary>
        <div class="scroll" tabindex="0" role="region" aria-label="The figures of: {{seriesTitle}}">
        <table>
        <thead><tr><th scope="col">when</th>{{#lines}}<th scope="col" class="number">{{lineName}}</th>{{/lines}}</tr></thead>
        <tbody>
        {{#rows}}
        <tr><th scope="row">{{point}}</th>{{#values}}<td class="number">{{value}}</td>{{/values}}</tr>
        {{/rows}}
        </tbody>
        </table>
        </div>
        </details>
        </section>
        {{/series}}
        {{^empty(charts)}}
        <div class="charts">
        {{#charts}}
        <section class="panel">
        <div class="scroll" tabindex="0" role="region" aria-label="{{chartTitle}}">
        <table class="chart">
        <caption>{{chartTitle}}</caption>
        <thead><tr><th scope="col">{{barKind}}</th>{{#heads}}<th scope="col" class="number">{{.}}</th>{{/heads}}<td class="bar" aria-hidden="true"></td></tr></thead>
        <tbody>
        {{#bars}}
        <tr><th scope="row">{{bar}}</th>{{#figures}}<td class="number">{{figure}}</td>{{/figures}}<td class="bar" aria-hidden="true"><svg viewBox="0 0 1000 10" preserveAspectRatio="none">{{#pieces}}{{#isDrawn}}<rect class="fill {{amountLevel}}" x="{{x}}" width="{{extent}}" height="10"/>{{/isDrawn}}{{/pieces}}</svg></td></tr>
        {{/bars}}
        </tbody>
        </table>
        </div>
        {{#hasLegend}}
        <ul class="legend" aria-hidden="true">{{#legend}}<li><span class="key {{legendLevel}}"></span>{{legendName}}</li>{{/legend}}</ul>
        {{/hasLegend}}
        </section>
        {{/charts}}
        </div>
        {{/empty(charts)}}
        {{#tables}}
        <section class="panel">
        <div class="scroll" tabindex="0" role="region" aria-label="{{caption}}">
        <table>
        <caption>{{caption}}</caption>
        <thead><tr>{{#columns}}<th scope="col" class="{{kind}}">{{head}}</th>{{/columns}}</tr></thead>
        <tbody>
        {{#rows}}
        <tr>{{#cells}}<td class="{{kind}}">{{#isBadge}}<span class="badge {{cellLevel}}">{{text}}</span>{{/isBadge}}{{#isCode}}<code>{{text}}</code>{{/isCode}}{{#isPlain}}{{text}}{{/isPlain}}</td>{{/cells}}</tr>
        {{/rows}}
        </tbody>
        </table>
        </div>
        </section>
        {{/tables}}
        {{#sections}}
        <section class="findings" aria-labelledby="{{anchor}}">
        <h2 id="{{anchor}}">{{name}}</h2>
        {{#hasSummary}}
        <p class="summary">{{summary}}</p>
        {{/hasSummary}}
        {{#hasFindings}}
        <table class="cards">
        <thead><tr>{{#columns}}<th scope="col" class="{{kind}}">{{head}}</th>{{/columns}}</tr></thead>
        {{#findings}}
        <tbody>
        <tr>{{#cells}}<td class="{{kind}}" data-label="{{label}}">{{#isBadge}}<span class="badge {{cellLevel}}"><svg class="icon" aria-hidden="true"><use href="#icon-{{cellLevel}}"/></svg>{{text}}</span>{{/isBadge}}{{#isCode}}<code>{{text}}</code>{{/isCode}}{{#isPlain}}<span>{{text}}</span>{{/isPlain}}</td>{{/cells}}</tr>
        {{#hasMore}}
        <tr class="more"><td colspan="{{span}}">{{#hasPlace}}<p class="place"><code>{{place}}</code></p>{{/hasPlace}}{{#details}}<p>{{.}}</p>{{/details}}{{#commands}}<pre tabindex="0"><code>{{.}}</code></pre>{{/commands}}</td></tr>
        {{/hasMore}}
        </tbody>
        {{/findings}}
        </table>
        {{/hasFindings}}
        {{#remarks}}
        <p class="remark">{{.}}</p>
        {{/remarks}}
        </section>
        {{/sections}}
        {{^empty(notes)}}
        <section class="panel notes" aria-labelledby="notes">
        <h2 id="notes">Notes</h2>
        <ul>
        {{#notes}}
        <li>{{.}}</li>
        {{/notes}}
        </ul>
        </section>
        {{/empty(notes)}}
        </main>
        <footer>
        <p>{{headline}}</p>
        <p class="release">shipshape {{version}}{{#times}}, <time>{{.}}</time>{{/times}}</p>
        </footer>
        </body>
        </html>

        """#
}
