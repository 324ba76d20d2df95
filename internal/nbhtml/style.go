package nbhtml

// pageCSS is the style of the page. --gpk-page tells reports inside it what they stand on.
const pageCSS = `:root{color-scheme:light dark;--gpk-page:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d8dee4;--soft:#f6f8fa;--err:#fff1f0;--accent:#0969da}
@media(prefers-color-scheme:dark){:root{--gpk-page:#15181c;--fg:#e6e8ea;--dim:#9da7b1;--line:#363c44;--soft:#1d2126;--err:#331c1c;--accent:#58a6ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--gpk-page);color:var(--fg);font:15px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1100px;margin:0 auto;padding:24px 24px 60px 64px}
a{color:var(--accent)}
section{margin:0 0 14px;min-width:0}
pre,code,kbd,samp{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.45}
.md h1,.md h2,.md h3{line-height:1.25;margin:1.2em 0 .5em}.md h1:first-child,.md h2:first-child{margin-top:0}
.md :not(pre)>code{background:var(--soft);padding:1px 5px;border-radius:4px}
.md pre{background:var(--soft);padding:10px 12px;border-radius:6px;margin:10px 0}
.md table,.html>table,.html .dataframe{border-collapse:collapse;font-size:14px;margin:10px 0}
.md th,.md td,.html>table th,.html>table td{border:1px solid var(--line);padding:3px 10px}
.md thead th{background:var(--soft)}
.md blockquote{margin:10px 0;padding:0 14px;border-left:3px solid var(--line);color:var(--dim)}
.md img,.out img{max-width:100%;height:auto}
code.mathblock{display:block;text-align:center;background:none!important;padding:6px!important}
.in{position:relative;background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:9px 12px;margin-bottom:6px}
.in .no{position:absolute;right:100%;margin-right:8px;top:9px;color:var(--dim);font:12px/1.6 ui-monospace,Menlo,Consolas,monospace;white-space:nowrap}
.out,.stream,.error{margin:6px 0}
pre.stream,pre.out{white-space:pre;overflow-wrap:normal;overflow-x:auto}
.out{overflow-x:auto}.out.html:has(.gpk){overflow-x:visible}
.stderr{background:var(--err);padding:6px 10px;border-radius:4px}
.error{background:var(--err);border-left:3px solid #d1373f;padding:8px 10px;border-radius:4px}
.note{color:var(--dim);font-size:13px}
.gpk-static table{border-collapse:collapse;font-size:13px}.gpk-static th,.gpk-static td{padding:2px 10px;border-bottom:1px solid var(--line)}
.af0{color:#3e424d}.af1{color:#c4262e}.af2{color:#1a7f37}.af3{color:#8a6100}.af4{color:#0b5cc4}.af5{color:#8a3fbf}.af6{color:#0f7682}.af7{color:#7d8590}
.afb0{color:#656d76}.afb1{color:#d9303a}.afb2{color:#1f883d}.afb3{color:#9a6700}.afb4{color:#1f6feb}.afb5{color:#a04fd6}.afb6{color:#138594}.afb7{color:#57606a}
.ab0{background:#3e424d}.ab1{background:#f1aeb2}.ab2{background:#aeddb8}.ab3{background:#ecd9a0}.ab4{background:#aecdf5}.ab5{background:#dcc1f0}.ab6{background:#a9dde3}.ab7{background:#d8dee4}
.abb0{background:#656d76}.abb1{background:#f5bfc3}.abb2{background:#bfe6c8}.abb3{background:#f2e3b5}.abb4{background:#bfd9f8}.abb5{background:#e6d2f5}.abb6{background:#bde6ea}.abb7{background:#eef1f4}
.afinv{color:var(--gpk-page)}.abinv{background:var(--fg)}
.a-b{font-weight:700}.a-f{opacity:.7}.a-i{font-style:italic}.a-u{text-decoration:underline}.a-s{text-decoration:line-through}
@media(prefers-color-scheme:dark){.af0{color:#8b949e}.af1{color:#ff7b72}.af2{color:#56d364}.af3{color:#e3b341}.af4{color:#79c0ff}.af5{color:#d2a8ff}.af6{color:#56d4dd}.af7{color:#c9d1d9}.afb0{color:#9da7b1}.afb1{color:#ffa198}.afb2{color:#7ee787}.afb3{color:#f2cc60}.afb4{color:#a5d6ff}.afb5{color:#e2c5ff}.afb6{color:#8ae6ec}.afb7{color:#f0f6fc}
.ab1{background:#6b2428}.ab2{background:#1d4a2b}.ab3{background:#574312}.ab4{background:#173f6e}.ab5{background:#472a66}.ab6{background:#12494f}.ab7{background:#484f58}}
@media(max-width:700px){main{padding-left:16px;padding-right:16px}.in .no{position:static}}
@media print{main{max-width:none;padding:0}.in{break-inside:avoid}pre.stream,pre.out{white-space:pre-wrap}}
`
