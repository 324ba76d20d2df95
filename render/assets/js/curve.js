// Curves over time that hold their value from one point to the next. Every pixel shows the lowest and the highest value
// in it, so a peak is never lost. A selected range is told to the rest of the report.

const BLOCK = 128;

function curve(root, doc, u8, bus) {
  const ser = unpackCurve(u8), end = Math.max(1, doc.end || 0, ...ser.map(s => s.t.length ? s.t[s.t.length - 1] : 0)), off = new Set();
  for (const s of ser) {
    const n = Math.ceil(s.y.length / BLOCK);
    s.lo = new Float64Array(n).fill(Infinity); s.hi = new Float64Array(n).fill(-Infinity);
    s.y.forEach((y, i) => { const b = i / BLOCK | 0; if (y < s.lo[b]) s.lo[b] = y; if (y > s.hi[b]) s.hi[b] = y; });
  }
  let show = [0, end], sel = null, W = 0, dpr = 1, th, raf = 0, mx = -1, drag = null, work = 0, yMax = 1;
  const L = 84, R = 14, B = 22, T = 12, H = doc.height || 260, color = i => SERIES[i % SERIES.length];
  const cv = el('canvas', { tabIndex: 0, role: 'img', 'aria-label': doc.label || doc.title || 'Curve' }), tip = el('div', { class: 'gpk-tip', hidden: true }), box = el('div', { class: 'gpk-flat' }, cv), info = dim('', { 'aria-live': 'polite' }), clear = button('Clear range', 'Stop filtering by the selected range', () => choose(null), { hidden: true });
  const ctx = cv.getContext('2d', { alpha: false });
  root.replaceChildren(el('div', { class: 'gpk-bar' }, ...doc.series.map((s, i) => button(s.name, 'Show or hide', e => { off.has(i) ? off.delete(i) : off.add(i); e.currentTarget.setAttribute('aria-pressed', !off.has(i)); scale(); draw(); }, { class: 'gpk-key', style: '--c:' + color(i), 'aria-pressed': 'true' })), info, el('span', { class: 'gpk-grow' }), clear, button('Fit', 'Show everything (0)', () => go(0, end))),
    box, el('p', { class: 'gpk-hint', textContent: 'Drag selects a range and filters the tables below; Ctrl+wheel zooms, Shift+wheel or A and D pan, 0 fits' }), tip);

  const scale = () => { yMax = Math.max(1e-9, ...ser.map((s, i) => off.has(i) ? 0 : s.hi.reduce((a, b) => Math.max(a, b), 0))) * (doc.unit === '%' ? 1 : 1.06); if (doc.unit === '%') yMax = Math.max(100, yMax); };
  const X = t => L + (t - show[0]) / (show[1] - show[0]) * (W - L - R), Y = y => H - B - y / yMax * (H - B - T), time = x => show[0] + (x - L) / (W - L - R) * (show[1] - show[0]);
  const valueAt = (s, t) => { const i = upper(s.t, t, 0, s.t.length) - 1; return i < 0 ? null : s.y[i]; };
  function extent(s, a, b) {
    let lo = Infinity, hi = -Infinity;
    const see = y => { if (y < lo) lo = y; if (y > hi) hi = y; };
    while (a < b && a % BLOCK) see(s.y[a++]);
    for (; a + BLOCK <= b; a += BLOCK) { const k = a / BLOCK; if (s.lo[k] < lo) lo = s.lo[k]; if (s.hi[k] > hi) hi = s.hi[k]; }
    while (a < b) see(s.y[a++]);
    return [lo, hi];
  }
  const draw = () => { if (!raf) raf = requestAnimationFrame(paint); };
  function paint() {
    raf = 0;
    if (!W || !th) return;
    const t0 = performance.now(), w = W - L - R;
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.fillStyle = th.bg; ctx.fillRect(0, 0, W, H);
    ctx.font = FONT; ctx.textBaseline = 'middle'; ctx.lineWidth = 1;
    ctx.textAlign = 'right';
    for (const y of ticks(0, yMax, 4, doc.unit === 'B')[0]) { ctx.fillStyle = th.line; ctx.fillRect(L, Math.round(Y(y)), w, 1); ctx.fillStyle = th.dim; ctx.fillText(trimZeros(format(doc.unit, y)), L - 8, Y(y)); }
    const [xs, step] = timeTicks(show[0], show[1], w);
    for (const t of xs) { const s = fmtTick(t, step), x = clamp(X(t) + s.length * 3, L, W - 2); ctx.fillText(s, x, H - B / 2); }
    ctx.textAlign = 'left';
    ctx.save(); ctx.beginPath(); ctx.rect(L, 0, w, H - B); ctx.clip();
    ctx.fillStyle = th.acc; ctx.globalAlpha = .3;
    for (const m of doc.marks || []) ctx.fillRect(Math.round(X(m[0])), 0, 1, H);
    ctx.globalAlpha = 1;
    ser.forEach((s, i) => { if (!off.has(i) && s.t.length) doc.series[i].limit ? limit(s, color(i), w) : stroke(s, color(i), doc.series[i].area, w); });
    if (sel) { const [a, b] = sel.map(X); ctx.fillStyle = th.acc; ctx.globalAlpha = .15; ctx.fillRect(Math.min(a, b), 0, Math.abs(b - a), H); ctx.globalAlpha = 1; }
    if (mx >= L && mx <= W - R) { ctx.fillStyle = th.dim; ctx.fillRect(Math.round(mx), 0, 1, H); }
    ctx.restore();
    ctx.fillStyle = th.line; ctx.fillRect(L, H - B, w, 1);
    work = performance.now() - t0;
  }
  function limit(s, c, w) { ctx.strokeStyle = c; ctx.setLineDash([6, 4]); ctx.beginPath(); ctx.moveTo(L, Y(s.y[0])); ctx.lineTo(L + w, Y(s.y[0])); ctx.stroke(); ctx.setLineDash([]); }
  // One column per pixel: fills only, because stroking a path of a million points is slow without a GPU.
  function stroke(s, c, area, w) {
    const n = s.t.length, k = (show[1] - show[0]) / w, base = Y(0);
    let i = upper(s.t, show[0], 0, n), y = i ? Y(s.y[i - 1]) : null;
    ctx.fillStyle = c;
    for (let x = 0; x < w; x++) {
      const j = lower(s.t, show[0] + (x + 1) * k, i, n);
      let a = y, b = y;
      if (j > i) { const [lo, hi] = extent(s, i, j); a = Math.min(y ?? Infinity, Y(hi)); b = Math.max(y ?? -Infinity, Y(lo)); y = Y(s.y[j - 1]); i = j; }
      if (a == null) continue;
      ctx.fillRect(L + x, a - .8, 1, b - a + 1.6);
      if (area) { ctx.globalAlpha = .2; ctx.fillRect(L + x, b, 1, base - b); ctx.globalAlpha = 1; }
    }
  }
  function go(a, b) { const d = clamp(b - a, 20, end); a = clamp(a, 0, end - d); show = [a, a + d]; draw(); }
  const zoom = (f, x) => { const t = time(clamp(x, L, W - R)); go(t - (t - show[0]) * f, t + (show[1] - t) * f); }, pan = f => { const d = (show[1] - show[0]) * f; go(show[0] + d, show[1] + d); };
  function choose(r) {
    sel = r && (r[0] < r[1] ? r : [r[1], r[0]]);
    clear.hidden = !sel;
    info.textContent = sel ? `${fmtTime(sel[0])} to ${fmtTime(sel[1])}` + ser.map((s, i) => off.has(i) || doc.series[i].limit ? '' : ` · ${doc.series[i].name} ${change(s)}`).join('') : '';
    bus && bus.emit('range', sel);
    draw();
  }
  const change = s => { const d = (valueAt(s, sel[1]) ?? 0) - (valueAt(s, sel[0]) ?? 0); return (d > 0 ? '+' : '') + format(doc.unit, d); };
  const xOf = e => e.clientX - cv.getBoundingClientRect().left;
  cv.addEventListener('wheel', e => {
    if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(Math.exp(clamp(e.deltaY, -60, 60) * .005), xOf(e)); }
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); pan((e.deltaX || e.deltaY) / W); }
  }, { passive: false });
  cv.addEventListener('pointerdown', e => { if (!e.button) { drag = xOf(e); cv.setPointerCapture(e.pointerId); } });
  cv.addEventListener('pointermove', e => {
    mx = xOf(e);
    if (drag != null && Math.abs(mx - drag) > 3) sel = [time(clamp(drag, L, W - R)), time(clamp(mx, L, W - R))];
    tip.hidden = mx < L || mx > W - R;
    if (!tip.hidden) { const t = time(mx); tip.replaceChildren(el('b', { textContent: fmtTime(t) }), ...ser.flatMap((s, i) => { const v = off.has(i) ? null : valueAt(s, t); return v == null ? [] : [el('div', { class: 'gpk-key', style: '--c:' + color(i), textContent: `${doc.series[i].name}  ${format(doc.unit, v)}` })]; })); placeTip(tip, root, e); }
    draw();
  });
  cv.addEventListener('pointerup', e => { if (drag != null) choose(Math.abs(xOf(e) - drag) > 3 ? sel : null); drag = null; });
  cv.addEventListener('pointerleave', () => { mx = -1; tip.hidden = true; draw(); });
  const keys = { w: () => zoom(.75, W / 2), s: () => zoom(1 / .75, W / 2), a: () => pan(-.15), d: () => pan(.15), ArrowLeft: () => pan(-.15), ArrowRight: () => pan(.15), '+': () => zoom(.75, W / 2), '-': () => zoom(1 / .75, W / 2), 0: () => go(0, end), Escape: () => choose(null) };
  cv.addEventListener('keydown', e => { if (keys[e.key] && !e.ctrlKey && !e.metaKey) { e.preventDefault(); e.stopPropagation(); keys[e.key](); } });
  bus && bus.on('range', r => { sel = r; clear.hidden = !r; draw(); });
  scale();
  onTheme(root, () => { th = theme(root); draw(); });
  th = theme(root);
  fitCanvas(box, cv, () => H, (w, h, d) => { W = w; dpr = d; paint(); });
  return { go, choose, paint, series: ser, get work() { return work; }, get end() { return end; } };
}
