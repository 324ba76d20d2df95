// Flame graph: call paths merged into a tree, widest child first, drawn from the root down. A click zooms into a node;
// the details show what calls a function and what it calls, over the whole tree.

const FROW = 18, DEEPEST = 500; // rows; browsers limit the height of a canvas

function flameTree(set) {
  const n = set.parent.length, total = Float64Array.from(set.self), kids = Array.from({ length: n }, () => []), depth = new Uint16Array(n);
  for (let i = n - 1; i > 0; i--) total[set.parent[i]] += total[i];
  for (let i = 1; i < n; i++) { kids[set.parent[i]].push(i); depth[i] = depth[set.parent[i]] + 1; }
  for (const k of kids) k.sort((a, b) => total[b] - total[a]);
  const x = new Float64Array(n);
  const stack = n ? [0] : [];
  while (stack.length) { const i = stack.pop(); let at = x[i]; for (const k of kids[i]) { x[k] = at; at += total[k]; stack.push(k); } }
  const rows = [];
  for (let i = 0; i < n; i++) (rows[depth[i]] = rows[depth[i]] || []).push(i);
  rows.length = Math.min(rows.length, DEEPEST);
  for (const r of rows) r.sort((a, b) => x[a] - x[b]);
  return { ...set, n, total, kids, depth, x, rows, label: i => set.names[set.name[i]] };
}

function flame(root, doc, bus) {
  let f, top, match = null, hover = -1, sel = -1, th, W = 0, dpr = 1, raf = 0;
  const cv = el('canvas', { tabIndex: 0, role: 'application', 'aria-roledescription': 'flame graph', 'aria-label': (doc.label || 'Flame graph') + ' Arrow keys move between calls, Enter zooms in, Escape zooms out.' });
  const ctx = cv.getContext('2d', { alpha: false }), inner = el('div', {}, cv), box = el('div', { class: 'gpk-scroll gpk-flat' }, inner), tip = el('div', { class: 'gpk-tip', hidden: true }), detail = el('div', { class: 'gpk-detail', 'aria-live': 'polite' });
  const q = el('input', { type: 'search', placeholder: 'Search functions  ( / )', 'aria-label': 'Search functions' }), info = dim('', { 'aria-live': 'polite' }), crumb = el('div', { class: 'gpk-crumb' });
  const choose = el('select', { 'aria-label': 'What the width means', onchange: () => load(+choose.value) }, ...doc.sets.map((s, i) => el('option', { value: i, textContent: s.title })));
  root.replaceChildren(el('div', { class: 'gpk-bar', role: 'toolbar', 'aria-label': 'Flame graph tools' }, ...(doc.sets.length > 1 ? [choose] : []), q, info, el('span', { class: 'gpk-grow' }), button('Reset', 'Show the whole tree (0)', () => zoom(0))),
    crumb, box, el('p', { class: 'gpk-hint', textContent: 'Click zooms into a call, click a row above to go back; widths are totals, largest first' }), detail, tip);

  const unit = v => format(f.unit, v), share = (v, of) => of ? ` (${(v / of * 100).toFixed(2)} %)` : '';
  const path = i => { const out = []; for (; i >= 0; i = f.parent[i]) out.unshift(i); return out; };
  const px = v => (v - f.x[top]) / f.total[top] * W;
  const height = () => f ? f.rows.length * FROW : FROW;
  function load(i) { f = flameTree(doc.sets[i]); sel = hover = -1; detail.replaceChildren(); search(); zoom(0); refit(); }
  function zoom(i) {
    top = i;
    crumb.replaceChildren(...(i ? path(i).map(k => button(clip(shorten(f.label(k)), 40), f.label(k), () => zoom(k))) : []));
    draw();
  }
  function search() {
    const s = q.value.trim().toLowerCase();
    match = null;
    if (!s) info.textContent = `${group(Math.max(0, f.n - 1))} call paths`;
    else {
      match = f.names.map(n => n.toLowerCase().includes(s));
      let sum = 0, k = 0;
      const inside = new Uint8Array(f.n);
      for (let i = 0; i < f.n; i++) { const up = f.parent[i] >= 0 && inside[f.parent[i]]; inside[i] = up || match[f.name[i]] ? 1 : 0; if (match[f.name[i]]) { k++; if (!up) sum += f.total[i]; } }
      info.textContent = k ? `${group(k)} matches, ${unit(sum)}${share(sum, f.total[0])}` : 'no match';
    }
    draw();
  }
  const draw = () => { if (!raf) raf = requestAnimationFrame(paint); };
  function paint() {
    raf = 0;
    if (!W || !th || !f) return;
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.fillStyle = th.bg; ctx.fillRect(0, 0, W, height());
    ctx.font = FONT; ctx.textBaseline = 'middle';
    const ancestors = new Set(path(top));
    f.rows.forEach((row, d) => {
      let gap = -1;
      for (const i of row) {
        const above = ancestors.has(i), a = above ? 0 : Math.max(0, px(f.x[i])), b = above ? W : Math.min(W, px(f.x[i] + f.total[i]));
        if (d <= f.depth[top] && !above || b - a < .4 && b < gap || b <= 0 || a >= W) continue;
        gap = Math.ceil(b);
        const on = !match || match[f.name[i]], name = f.label(i), y = d * FROW;
        ctx.globalAlpha = above && i !== top ? .55 : on ? 1 : .25;
        ctx.fillStyle = d ? doc.sets.length && f.cls ? classColor(f.classes[f.cls[f.name[i]]], hash(name), th.dark) : flameColor(name, th.dark) : th.chip;
        ctx.fillRect(a, y, Math.max(.6, b - a - .6), FROW - 1);
        ctx.globalAlpha = 1;
        if (b - a > 24) { ctx.fillStyle = th.dark ? '#f4f6f8' : '#14181d'; ctx.fillText(fitText(ctx, shorten(name), b - a - 8), a + 4, y + FROW / 2); }
        if (i === sel || i === hover) { ctx.strokeStyle = i === sel ? th.acc : th.fg; ctx.lineWidth = i === sel ? 2 : 1; ctx.strokeRect(a + .5, y + .5, Math.max(2, b - a - 1.6), FROW - 2); }
      }
    });
  }
  // Warm hues by package, so that neighbours of one package look alike.
  const flameColor = (name, dark) => { const pkg = name.replace(/[.:(<].*$/, ''), h = hash(pkg), v = hash(name); return `hsl(${h % 44 + 4} ${dark ? 44 : 74}% ${(dark ? 37 : 75) + v % 7 - 3}%)`; };
  function at(e) {
    const r = cv.getBoundingClientRect(), x = e.clientX - r.left, d = Math.floor((e.clientY - r.top) / FROW);
    if (d <= f.depth[top]) { const p = path(top)[d]; return p ?? -1; }
    for (const i of f.rows[d] || []) { const a = px(f.x[i]), b = px(f.x[i] + f.total[i]); if (x >= a && x < Math.max(b, a + 1)) return i; }
    return -1;
  }
  // Callers and callees of a name over the whole tree. Recursive calls count once: only outermost ones add to totals.
  function sandwich(name) {
    const up = new Map(), down = new Map(), inside = new Uint8Array(f.n);
    let total = 0, self = 0, count = 0;
    const add = (m, k, v, c) => { const o = m.get(k) || [0, 0]; o[0] += v; o[1] += c; m.set(k, o); };
    for (let i = 0; i < f.n; i++) {
      const p = f.parent[i], here = f.name[i] === name;
      inside[i] = here || p >= 0 && inside[p] ? 1 : 0;
      if (here) { self += f.self[i]; count += f.count[i]; if (p < 0 || !inside[p]) { total += f.total[i]; if (p >= 0) add(up, f.name[p], f.total[i], f.count[i]); } }
      else if (p >= 0 && f.name[p] === name) add(down, f.name[i], f.total[i], f.count[i]);
    }
    return { up, down, total, self, count };
  }
  function select(i) {
    sel = i;
    if (i < 0) { detail.replaceChildren(); return draw(); }
    const s = sandwich(f.name[i]), cols = [{ n: 'Function' }, { n: 'Total', u: f.unit, heat: true }, { n: 'Calls', u: 'n' }];
    const list = (title, m) => { const rows = [...m], div = el('div'); table(div, { cols, data: [rows.map(r => f.names[r[0]]), rows.map(r => r[1][0]), rows.map(r => r[1][1])], sort: 1, height: 200, label: title }); return el('div', {}, el('h5', { textContent: title }), div); };
    detail.replaceChildren(el('div', { class: 'gpk-name' }, el('b', { textContent: f.label(i) }), ...(bus && bus.has('find') ? [button('Find in timeline', '', () => bus.emit('find', f.label(i)))] : [])),
      el('dl', {}, ...[['Here', unit(f.total[i]) + share(f.total[i], f.total[0])], ['Self here', unit(f.self[i])], ['Everywhere', unit(s.total) + share(s.total, f.total[0])], ['Self everywhere', unit(s.self)], [f.samples ? 'Samples' : 'Calls', group(s.count)]].map(([k, v]) => el('div', {}, el('dt', { textContent: k }), el('dd', { textContent: v })))),
      el('div', { class: 'gpk-pair' }, list('Called by', s.up), list('Calls', s.down)));
    draw();
  }
  cv.addEventListener('pointermove', e => {
    const i = at(e);
    if (i !== hover) { hover = i; draw(); }
    if (i < 0) tip.hidden = true;
    else { tip.replaceChildren(el('b', { textContent: clip(f.label(i), 300) }), el('div', { textContent: `${unit(f.total[i])}${share(f.total[i], f.total[0])} · self ${unit(f.self[i])} · ${group(f.count[i])} ${f.samples ? 'samples' : 'calls'}` })); placeTip(tip, root, e); }
  });
  cv.addEventListener('pointerleave', () => { hover = -1; tip.hidden = true; draw(); });
  cv.addEventListener('click', e => { const i = at(e); if (i >= 0) { select(i); zoom(i); } });
  const near = (dir) => { const r = f.rows[f.depth[sel]], k = r.indexOf(sel) + dir; return r[k] ?? sel; };
  const keys = { 0: () => { select(-1); zoom(0); }, Escape: () => zoom(top ? f.parent[top] : 0), '/': () => q.focus(), Enter: () => sel >= 0 && zoom(sel), ArrowDown: () => select(sel < 0 ? 0 : f.kids[sel][0] ?? sel), ArrowUp: () => sel > 0 && select(f.parent[sel]), ArrowRight: () => sel >= 0 && select(near(1)), ArrowLeft: () => sel >= 0 && select(near(-1)) };
  cv.addEventListener('keydown', e => { if (keys[e.key] && !e.ctrlKey && !e.metaKey) { e.preventDefault(); e.stopPropagation(); keys[e.key](); } });
  q.addEventListener('input', search);
  q.addEventListener('keydown', e => { e.stopPropagation(); if (e.key === 'Escape') { q.value = ''; search(); cv.focus(); } });
  let refit = () => {};
  onTheme(root, () => { th = theme(root); draw(); });
  th = theme(root);
  load(0);
  refit = fitCanvas(inner, cv, height, (w, h, d) => { W = w; dpr = d; paint(); });
  return { zoom, select, search: s => { q.value = s; search(); }, paint, get tree() { return f; }, get top() { return top; } };
}
