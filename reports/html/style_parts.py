"""Rules of the style sheet for stories, for charts, and for paper."""

STORIES = """
.counterexample{border:1px solid var(--line);border-radius:10px;background:var(--bg);margin:0 0 1rem}
.counterexample[open]{border-color:var(--bad)}
.counterexample>summary{padding:.8rem 1rem;color:var(--ink)}
.counterexample>summary h3{display:inline;margin:0;font-size:1.08rem}
.counterexample>article{padding:0 1.2rem 1rem}
.counterexample:target{box-shadow:0 0 0 3px var(--link)}
.meta{display:block;color:var(--soft);font-size:.88rem;padding-left:2.9rem;overflow-wrap:anywhere}
.counterexample .facts{border-top:1px solid var(--line);padding-top:.8rem}
.ordinal{display:inline-block;min-width:1.6em;text-align:center;border-radius:99px;margin:0 .5rem 0 .3rem;
 background:var(--bad-bg);color:var(--bad);font-size:.9em}
.happened{font-size:1.05rem;overflow-wrap:anywhere}
.timeline{list-style:none;padding:0;margin:0 0 1rem}
.timeline>li{position:relative;display:flex;gap:.9rem;margin:0;padding:0 0 .7rem}
.timeline>li::before{content:"";position:absolute;left:1.05rem;top:1.6rem;bottom:-.2rem;width:2px;background:var(--line)}
.timeline>li:last-child::before{display:none}
.timeline .n{flex:none;width:2.1rem;height:2.1rem;border:2px solid var(--line);border-radius:50%;display:grid;
 place-items:center;font-size:.82rem;font-weight:650;background:var(--bg);position:relative;
 font-variant-numeric:tabular-nums}
.timeline>li>div{min-width:0;flex:1;padding-top:.25rem}
.timeline p{margin:0;overflow-wrap:anywhere}
.timeline .deed{font-weight:550}
.timeline .came,.timeline .disk,.timeline .gap{color:var(--soft);font-size:.92rem}
.timeline .gap{padding:.2rem 0 .2rem 3rem}
.timeline .disk span{font-weight:600}
.timeline .shape{font-weight:700}
.timeline .refused .n{border-style:dashed}
.timeline .flight .n{border-style:dotted;border-color:var(--soft)}
.timeline .killed .n{border-color:var(--bad);border-radius:4px}
.timeline .killed .came{color:var(--bad);font-weight:650}
.timeline .marked{background:var(--bad-bg);border-radius:8px;padding:.6rem .7rem .7rem;
 margin:.2rem -.7rem .7rem}
.timeline .marked::before{left:1.75rem;top:2.3rem}
.timeline .marked .n{background:var(--bad);border-color:var(--bad);color:var(--bg)}
.flag{display:inline-block;margin-top:.45rem;padding:.1rem .55rem;border-radius:4px;background:var(--bad);
 color:var(--bg);
 font-size:.85rem}
.flag::before{content:"\\2716\\a0" / ""}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,14rem),1fr));gap:.5rem;
 margin:.4rem 0 0}
.sides div{border:1px solid var(--line);border-radius:6px;padding:.35rem .6rem;background:var(--bg)}
.sides dt{font-size:.78rem;color:var(--soft);text-transform:uppercase;letter-spacing:.04em}
.sides dd{margin:0;font-weight:600;overflow-wrap:anywhere}
.sides div:last-child{border-color:var(--bad)}
.wrong{border-left:4px solid var(--bad);padding:.1rem 0 .1rem .9rem;margin:0 0 1rem}
.wrong h4{margin-top:.2rem}
.wrong p{overflow-wrap:anywhere}
.differences td:last-child{font-weight:600}
.files{font-size:.9rem;overflow-wrap:anywhere}
"""
CHARTS = """
svg{max-width:none;vertical-align:middle}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;fill:var(--ink)}
figcaption{color:var(--soft);font-size:.9rem}
figure .scrolls{margin-bottom:.4rem}
.legend{list-style:none;padding:0;margin:0;display:flex;flex-wrap:wrap;gap:.2rem 1.3rem}
.crashes .rule{stroke:var(--line);stroke-width:1}
.crashes text{font-size:11px}
.crashes .moment{font-size:9px;fill:var(--soft)}
.c-before,.c-after,.c-both,.c-unknown{fill:var(--chart);fill-rule:evenodd}
.c-other{fill:none;stroke:var(--chart);stroke-width:2.5}
.c-unknown{fill:var(--quiet)}
.c-wrong{fill:none;stroke:var(--bad);stroke-width:3;stroke-linecap:round}
.lifecycle .way path{fill:none;stroke:var(--chart);stroke-width:2.5}
.lifecycle .way.rare path{stroke:var(--warn);stroke-width:2;stroke-dasharray:9 4}
.lifecycle .way.never path{stroke:var(--quiet);stroke-width:1.5;stroke-dasharray:2 4}
.lifecycle marker path{fill:var(--chart)}
.lifecycle #head-rare path{fill:var(--warn)}
.lifecycle #head-never path{fill:var(--quiet)}
.lifecycle text{text-anchor:middle;font-size:11.5px}
.lifecycle .halo{stroke:var(--bg);stroke-width:5px}
.lifecycle .count{font-weight:700;font-size:12.5px}
.lifecycle .state .name{font-weight:700;font-size:14px}
.lifecycle .state rect{fill:var(--heat1);stroke:var(--chart);stroke-width:2.5}
.lifecycle .state.rare rect{fill:url(#hatch);stroke:var(--warn)}
.lifecycle .state.never rect{fill:none;stroke:var(--quiet);stroke-dasharray:3 4}
.lifecycle #hatch path{stroke:var(--warn);stroke-width:1;opacity:.4}
.lifecycle .start circle{fill:var(--ink)}
.bars{max-width:100%;height:auto}
.bars .whole{fill:none;stroke:var(--quiet)}
.bars .part{fill:var(--chart)}
.strip .done rect{fill:var(--heat2);stroke:var(--chart);stroke-width:1.5}
.strip .undone rect{fill:none;stroke:var(--quiet);stroke-dasharray:4 3}
.strip .kill line{stroke:var(--bad);stroke-width:3}
.strip .kill circle{fill:var(--bad)}
.strip .kill path{stroke:var(--bg);stroke-width:3;fill:none}
"""
PRINT = """
@media print{
 @page{margin:14mm}
 html{font-size:62.5%}
 body{font-size:1rem;display:block}
 nav,.skip,footer{display:none}
 main,.top{padding:0;max-width:none}
 details::details-content{content-visibility:visible;block-size:auto}
 details>summary{color:var(--ink)}
 .scrolls{overflow:visible}
 section{margin-bottom:1.4rem}
 h2,h3,h4,caption,summary{break-after:avoid}
 thead{display:table-header-group}
 tr,.timeline>li,.figures div,figure,.worst{break-inside:avoid}
 table{font-size:.85rem}
 th,td{padding:.2rem .4rem}
 svg{max-width:100%;height:auto}
 .banner,.h1,.h2,.h3,.h4,.marked,.flag,.n,.ordinal,svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}
 a{color:inherit;text-decoration:none}
}
"""
