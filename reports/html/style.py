"""The page's one style sheet: system fonts, light and dark, narrow and wide, and print.

It is put into the page as it is, and its hash into the page's policy; so nothing here may depend on results.
Charts and stories have their rules in `reports.html.style_parts`.
"""

from reports.html.palette import DARK, LIGHT, variables
from reports.html.style_parts import CHARTS, PRINT, STORIES

_COLOURS = f"""
:root{{color-scheme:light dark;{variables(LIGHT)}}}
@media screen and (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}
"""
_BASE = """
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;overflow-wrap:anywhere;background:var(--bg);color:var(--ink);
 font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif}
code,pre,kbd{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;
 font-size:.9em;unicode-bidi:isolate;overflow-wrap:anywhere}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.7rem .9rem;margin:.5rem 0;
 white-space:pre-wrap}
a{color:var(--link);text-underline-offset:.15em}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
main:focus{outline:none}
h1,h2,h3,h4{line-height:1.25;margin:0 0 .6rem;text-wrap:balance}
h1{font-size:1.15rem;font-weight:650}
h2{font-size:1.45rem}
h3{font-size:1.12rem;margin-top:1.6rem}
h4{font-size:.95rem;margin-top:1.3rem;color:var(--soft)}
p,ul,ol,dl,figure{margin:0 0 .8rem}
ul{padding-left:1.2rem}
li{margin:.2rem 0}
.skip{position:absolute;left:-99rem;top:0;background:var(--bg);padding:.6rem 1rem;z-index:2}
.skip:focus{left:.5rem;top:.5rem}
.top{padding:1rem 1.25rem .4rem}
.top h1{margin:0}
.subtitle{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;margin:.2rem 0 0;color:var(--soft);font-size:.9rem}
nav ul{list-style:none;margin:0;padding:.6rem 1.25rem;display:flex;flex-wrap:wrap;gap:.2rem 1rem;
 font-size:.9rem}
nav li{margin:0}
nav a{text-decoration:none;display:inline-block;padding:.15rem 0}
nav a:hover{text-decoration:underline}
main,footer{padding:0 1.25rem;max-width:80rem;min-width:0}
section{margin:0 0 3rem;min-width:0}
section>h2{border-top:1px solid var(--line);padding-top:1.4rem}
footer{color:var(--soft);font-size:.9rem;padding-bottom:3rem}
.note{color:var(--soft);max-width:48rem}
main>section>p{max-width:48rem}
.source{display:block;color:var(--soft);font-size:.82rem}
@media (min-width:72rem){
 body{display:grid;grid-template-columns:15rem minmax(0,1fr);grid-template-rows:auto 1fr auto;column-gap:1rem}
 .top{grid-column:1/-1}
 nav{grid-column:1;grid-row:2}
 nav ul{position:sticky;top:1rem;flex-direction:column;gap:.15rem}
 main{grid-column:2;grid-row:2}
 footer{grid-column:2}
}
"""
_VERDICT = """
.banner{border:1px solid var(--line);border-left:8px solid var(--soft);border-radius:10px;
 padding:1.3rem 1.5rem;
 margin-top:.6rem;background:var(--panel)}
.banner.good{border-color:var(--good);background:var(--good-bg)}
.banner.bad{border-color:var(--bad);background:var(--bad-bg)}
.banner.warn{border-color:var(--warn);background:var(--warn-bg)}
.banner.odd{border-color:var(--odd);background:var(--odd-bg)}
.word{display:flex;gap:1.1rem;align-items:flex-start}
.word h2{font-size:2.3rem;letter-spacing:.01em;margin:0;line-height:1.1;border:0;padding:0}
.good .word h2{color:var(--good)}
.bad .word h2{color:var(--bad)}
.warn .word h2{color:var(--warn)}
.odd .word h2{color:var(--odd)}
.icon{flex:none;width:56px;height:56px}
.icon .outline{fill:currentColor}
.icon .sign{fill:none;stroke:var(--bg);stroke-width:6;stroke-linecap:round;stroke-linejoin:round}
.good .icon{color:var(--good)}
.bad .icon{color:var(--bad)}
.warn .icon{color:var(--warn)}
.odd .icon{color:var(--odd)}
.means{font-size:1.08rem;margin:.4rem 0 0;max-width:44rem}
.banner>p,.banner>ul{margin:.9rem 0 0}
.part{font-weight:650}
.worst{margin-top:1rem;padding:.8rem 1rem;background:var(--bg);border:1px solid var(--bad);border-radius:8px}
.worst p{margin:0}
.broken{font-size:1.1rem;font-weight:650;margin-bottom:.3rem!important}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.4rem,1fr));gap:.6rem;margin:1.2rem 0 0}
.figures div{background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:.5rem .7rem;
 display:flex;flex-direction:column-reverse;justify-content:flex-end}
.figures dt{font-size:.82rem;color:var(--soft)}
.figures dd{margin:0;font-size:1.1rem;font-weight:650;font-variant-numeric:tabular-nums}
.columns>div{min-width:0}
.columns{font-size:.95rem;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));
 gap:0 2.5rem}
.checked,.unchecked{list-style:none;padding:0}
.checked li,.unchecked li{padding-left:1.6rem;position:relative;margin:.45rem 0}
.checked li::before,.unchecked li::before{position:absolute;left:0;font-weight:700}
.checked li::before{content:"\\2713" / "";color:var(--good)}
.unchecked li::before{content:"\\2013" / "";color:var(--warn)}
"""
_TABLES = """
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.scrolls{overflow-x:auto;margin:0 0 1.2rem;max-width:100%}
table{overflow-wrap:break-word;border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
table code{overflow-wrap:break-word}
caption{white-space:nowrap;text-align:left;font-weight:650;padding:.3rem 0 .5rem;color:var(--ink)}
th,td{text-align:left;vertical-align:top;padding:.35rem .7rem;border-bottom:1px solid var(--line);
 overflow-wrap:break-word;max-width:34rem}
thead th{vertical-align:bottom;background:var(--panel);border-bottom:2px solid var(--line);font-weight:600}
tbody th{font-weight:500}
.number{text-align:right;white-space:nowrap}
.unlooked{color:var(--soft)}
.heat td{border:1px solid var(--bg);min-width:2.6rem;padding:.25rem .5rem}
.turned{writing-mode:vertical-rl;transform:rotate(180deg);white-space:nowrap;font-weight:500}
.h0{color:var(--soft)}
.h1{background:var(--heat1)}
.h2{background:var(--heat2)}
.h3{background:var(--heat3)}
.h4{background:var(--heat4)}
.mark{white-space:nowrap;font-weight:600}
.mark .shape{display:inline-block;min-width:1em;text-align:center;font-weight:800}
.mark.good{color:var(--good)}
.mark.bad{color:var(--bad)}
.mark.warn{color:var(--warn)}
.mark.odd{color:var(--odd)}
.mark.none{color:var(--soft)}
.matrix tbody th{min-width:15rem;font-weight:400}
.matrix tbody th code{font-weight:650}
.sentence{display:block}
.tally span+span{margin-left:1.2rem}
.facts{display:flex;flex-wrap:wrap;gap:.3rem 1.6rem;font-size:.92rem}
.facts div{min-width:0}
.facts dt{color:var(--soft);font-size:.8rem}
.facts dd{margin:0;overflow-wrap:anywhere}
.facts.wide,.glossary{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));
 gap:.7rem 2rem}
.glossary dt{font-weight:650}
.glossary dfn{font-style:normal}
.glossary dd{margin:0;color:var(--soft)}
details{margin:0 0 .6rem}
summary{cursor:pointer;padding:.3rem 0;color:var(--link)}
summary:hover{text-decoration:underline}
"""
STYLE = "".join([_COLOURS, _BASE, _VERDICT, _TABLES, STORIES, CHARTS, PRINT])
