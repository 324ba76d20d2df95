// Shared pieces: formats, element builder, search in sorted arrays, the host's theme.
// All files of this folder are joined, in a fixed order, inside one function scope; see library.go.

const fmtTime = ns => {
  const a = Math.abs(ns);
  if (a < 1e3) return +ns.toFixed(1) + ' ns';
  if (a < 1e6) return (ns / 1e3).toFixed(3) + ' µs';
  if (a < 1e9) return (ns / 1e6).toFixed(3) + ' ms';
  return (ns / 1e9).toFixed(3) + ' s';
};
// Axis labels: as few digits as tell two ticks apart.
const fmtTick = (ns, step) => {
  const a = Math.max(Math.abs(ns), step), [d, u] = a < 1e3 ? [1, 'ns'] : a < 1e6 ? [1e3, 'µs'] : a < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
  return (ns / d).toFixed(Math.max(0, Math.min(9, -Math.floor(Math.log10(step / d) + 1e-9)))) + ' ' + u;
};
const scaled = (v, base, units, digits) => {
  let i = 0;
  while (Math.abs(v) >= base && i < units.length - 1) { v /= base; i++; }
  return (i || v % 1 ? v.toFixed(digits) : v) + ' ' + units[i];
};
const fmtBytes = v => scaled(v, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 2);
const group = v => v.toLocaleString('en-US', { maximumFractionDigits: 0 });
const fmtNum = v => Number.isInteger(v) ? group(v) : Math.abs(v) >= 1000 ? group(v) : String(+v.toPrecision(4));
const FORMATS = {
  ns: fmtTime, B: fmtBytes, n: group, f: fmtNum, '%': v => v.toFixed(2) + ' %',
  F: v => scaled(v, 1000, ['FLOP', 'kFLOP', 'MFLOP', 'GFLOP', 'TFLOP', 'PFLOP'], 2),
  'B/s': v => scaled(v, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s'], 2),
};
// Without zeros behind the point: 1.50 GiB is 1.5 GiB.
const trimZeros = s => s.replace(/(\.\d*?)0+(?= |$)/, '$1').replace(/\.(?= |$)/, '');
const UNITS = { s: [1e9, ' s'], ms: [1e6, ' ms'], us: [1e3, ' µs'] };
const format = (unit, v, time) => unit === 'ns' && UNITS[time] && v != null ? (v / UNITS[time][0]).toFixed(3) + UNITS[time][1] : v == null ? '' : (FORMATS[unit] || String)(v);

// Lumino (JupyterLab, Notebook 7) asks the focused element itself for this attribute; without it the keys 'a', 'd d'
// or 'x' pressed in a chart would edit the notebook.
const FOCUSABLE = /^(canvas|button|input|select|summary|a)$/;
function el(tag, props, ...kids) {
  const e = document.createElement(tag);
  if (FOCUSABLE.test(tag) || props && 'tabIndex' in props) e.setAttribute('data-lm-suppress-shortcuts', 'true');
  for (const k in props || {}) {
    const v = props[k];
    if (v == null) continue;
    if (k === 'class' || k === 'style' || k === 'role' || k === 'for' || k.includes('-')) e.setAttribute(k, v);
    else e[k] = v;
  }
  e.append(...kids.filter(k => k != null));
  return e;
}
const button = (text, title, onclick, more) => el('button', { type: 'button', textContent: text, title, onclick, ...more });
const dim = (text, more) => el('span', { class: 'gpk-dim', textContent: text, ...more });

const hash = s => { let h = 2166136261; for (let i = 0; i < s.length; i++) h = Math.imul(h ^ s.charCodeAt(i), 16777619); return (h ^ h >>> 13) >>> 0; };
// First index in [lo, hi) whose value is >= x, and > x.
const lower = (a, x, lo, hi) => { while (lo < hi) { const m = lo + hi >>> 1; if (a[m] < x) lo = m + 1; else hi = m; } return lo; };
const upper = (a, x, lo, hi) => { while (lo < hi) { const m = lo + hi >>> 1; if (a[m] <= x) lo = m + 1; else hi = m; } return lo; };
const clamp = (v, lo, hi) => v < lo ? lo : v > hi ? hi : v;

// Ticks at 1-2-5 steps (decimal) or powers of two (bytes); about n of them. Returns [positions, step].
function ticks(a, b, n, binary) {
  const raw = (b - a) / Math.max(1, n);
  if (!(raw > 0)) return [[], 1];
  let step;
  if (binary) step = 2 ** Math.round(Math.log2(raw));
  else { const m = 10 ** Math.floor(Math.log10(raw)), f = raw / m; step = m * (f < 1.5 ? 1 : f < 3.5 ? 2 : f < 7.5 ? 5 : 10); }
  const out = [];
  for (let i = Math.ceil(a / step - 1e-9); i * step <= b + step * 1e-9 && out.length < 500; i++) out.push(i * step + 0);
  return [out, step];
}

// Numbers come from canvas rather than from parsing: the browser knows every colour syntax a theme may use.
const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
function rgb(color) {
  probe.fillStyle = '#000'; probe.fillStyle = color; probe.fillRect(0, 0, 1, 1);
  return probe.getImageData(0, 0, 1, 1).data;
}
const luma = ([r, g, b]) => r * .299 + g * .587 + b * .114;

// The host's colours: JupyterLab's and VS Code's variables, else what the page paints behind us, else the system's choice.
function theme(node) {
  const cs = getComputedStyle(node), get = (...names) => { for (const n of names) { const v = cs.getPropertyValue(n).trim(); if (v) return v; } };
  let bg = get('--jp-layout-color0', '--vscode-editor-background', '--gpk-page');
  for (let p = node; !bg && p; p = p.parentElement) { const c = getComputedStyle(p).backgroundColor; if (c && !/, 0\)$|transparent/.test(c)) bg = c; }
  bg = bg || (matchMedia('(prefers-color-scheme: dark)').matches && /dark/.test(cs.colorScheme) ? '#15181c' : '#fff');
  const px = rgb(bg), dark = luma(px) < 128, pick = (l, d) => dark ? d : l;
  return {
    dark, bg, px,
    fg: get('--jp-content-font-color1', '--vscode-editor-foreground') || pick('#1b1f24', '#e6e8ea'),
    dim: get('--jp-content-font-color2', '--vscode-descriptionForeground') || pick('#57606a', '#9da7b1'),
    line: get('--jp-border-color2', '--vscode-panel-border') || pick('#d8dee4', '#363c44'),
    band: pick('#f3f5f7', '#20252b'), chip: pick('#e7ebef', '#2b3138'),
    acc: get('--jp-brand-color1', '--vscode-focusBorder') || pick('#0969da', '#58a6ff'),
  };
}
// fn runs whenever the host's theme may have changed. It is kept on the output's own element, so that it goes with it when
// the cell runs again.
function onTheme(node, fn) { const o = node.closest('.gpk'); (o.gpkTheme = o.gpkTheme || []).push(fn); }
const themeChanged = () => document.querySelectorAll('.gpk').forEach(o => (o.gpkTheme || []).forEach(f => f()));
new MutationObserver(themeChanged).observe(document.body, { attributes: true, attributeFilter: ['data-jp-theme-name', 'data-jp-theme-light', 'data-vscode-theme-kind', 'class', 'data-theme'] });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', themeChanged);
document.addEventListener('pointerdown', e => document.querySelectorAll('.gpk-pop[open]').forEach(d => { if (!d.contains(e.target)) d.open = false; }));

// One colour family per class of event; names vary within it. [hue, saturation, spread of the hue]
const CLASSES = {
  other: [215, 14], op: [212, 62, 5], annotation: [43, 75, 9], step: [220, 10], call: [186, 48, 12], python: [150, 34, 7], runtime: [268, 46], driver: [290, 38],
  kernel: [24, 78], memcpy: [338, 60], memset: [318, 42], comm: [304, 56], sync: [2, 62], overhead: [0, 0], gc: [88, 42], stw: [8, 70], state: [200, 22], memory: [130, 40], tool: [230, 8],
  running: [142, 52, 1], runnable: [28, 85, 1], syscall: [278, 45, 1],
};
// States of goroutines differ by what they are: at work, ready without a processor, in the system; waiting stays grey.
const stateClass = (cls, name) => cls === 'state' && /^(running|runnable|syscall)$/.test(name) ? name : cls;
function classColor(cls, seed, dark) {
  const [h, s, spread = 3.2] = CLASSES[cls] || CLASSES.other, a = (seed % 7 - 3) * spread, b = ((seed >>> 8) % 5 - 2) * 2.6;
  return `hsl(${(h + a + 360) % 360} ${dark ? s * .68 : s}% ${(dark ? 40 : 75) + b}%)`;
}
// Colours of charts: distinct, readable on both grounds.
const SERIES = ['#3b82c4', '#e8833a', '#4aa564', '#c8534f', '#8a6fc1', '#9a7355', '#d17fb4', '#7f8a94', '#b5a642', '#3fa7a0'];

function download(name, blob) {
  const a = el('a', { href: URL.createObjectURL(blob), download: name, hidden: true });
  document.body.append(a); a.click(); a.remove();
  setTimeout(() => URL.revokeObjectURL(a.href), 6e4);
}
// Where a canvas went and how dense its pixels are; calls fn with the width whenever that changes.
function fitCanvas(box, canvas, height, fn) {
  let w0 = 0, d0 = 0, h0 = 0;
  const fit = () => {
    const w = Math.floor(box.clientWidth), h = height(), d = clamp(devicePixelRatio || 1, 1, 3);
    if (w < 1 || w === w0 && d === d0 && h === h0) return;
    w0 = w; d0 = d; h0 = h;
    canvas.width = Math.round(w * d); canvas.height = Math.round(h * d);
    canvas.style.width = w + 'px'; canvas.style.height = h + 'px';
    fn(w, h, d);
  };
  new ResizeObserver(fit).observe(box);
  fit();
  return fit;
}
function placeTip(tip, root, e) {
  const r = root.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
  tip.hidden = false;
  const w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = clamp(x + 14, 0, Math.max(0, r.width - w - 4)) + 'px';
  tip.style.top = (e.clientY + h + 30 > innerHeight ? y - h - 10 : y + 18) + 'px';
}
// Long kernel names are told apart by what stands at both ends; of functions of Go the package's path is dropped.
const shorten = s => {
  if (s.length < 24 || /\(\d+\): /.test(s)) return s; // file.py(12): function
  if (!/[ <>:,]/.test(s.split('[')[0]) && (s.includes('.(*') || /^[^<( /]+\/.*\./.test(s))) return s.slice(s.split('[')[0].lastIndexOf('/') + 1);
  const d = s.replace(/^void /, '').replace(/\((?:anonymous namespace|anonymous class)\)::/g, '').replace(/at::native::|c10::|std::|at::cuda::/g, ''), p = d.search(/[^( ]\(.*$/);
  return p > 8 ? d.slice(0, p + 1) : d;
};
// s as far as it fits into w pixels of ctx's font. Widths of whole texts are remembered.
const widths = new Map();
function fitText(ctx, s, w) {
  let full = widths.get(s);
  if (full == null) { full = ctx.measureText(s).width; if (widths.size > 2e4) widths.clear(); widths.set(s, full); }
  return full <= w ? s : clip(s, Math.floor(s.length * (w - 9) / full));
}
// Ticks of a time axis whose labels do not touch: about one per 70 pixels, fewer where labels are long.
function timeTicks(a, b, w) {
  let out = ticks(a, b, w / 70);
  for (let n = w / 70; n > 1; n *= .8) { out = ticks(a, b, n); if ((fmtTick(b, out[1]).length * 6.4 + 18) * out[0].length <= w * 1.02) break; }
  return out;
}
const clip = (s, n) => s.length <= n ? s : n < 3 ? '' : s.slice(0, n - 1) + '…';
