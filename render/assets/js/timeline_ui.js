// The timeline's behaviour: keys, pointer, search, selection, tracks, saving. See timeline.js for data and drawing.

function timeline(root, doc, u8, bus) {
  const D = unpackTimeline(u8), m = timelineModel(doc, D), { S, E, N, A, off } = D;
  const cv = el('canvas', { tabIndex: 0, role: 'application', 'aria-roledescription': 'timeline', 'aria-label': doc.label + ' Arrow keys step through events, W and S zoom, A and D pan, 0 shows everything, slash searches.' });
  const spacer = el('div'), scroller = el('div', { class: 'gpk-scroll' }, cv, spacer), detail = el('div', { class: 'gpk-detail', 'aria-live': 'polite' }), tip = el('div', { class: 'gpk-tip', hidden: true });
  const p = timelinePainter(m, cv, root, scroller);

  // --- what is in view
  const least = Math.max(20, D.tick * 4);
  function go(a, b) {
    const d = clamp(b - a, least, m.end);
    a = clamp(a, 0, m.end - d);
    m.show = [a, a + d];
    p.draw();
  }
  const fit = () => go(0, m.end);
  const zoom = (f, x) => { const t = p.time(Math.max(GUTTER, x)), [a, b] = m.show; go(t - (t - a) * f, t + (b - t) * f); };
  const pan = f => { const d = (m.show[1] - m.show[0]) * f; go(m.show[0] + d, m.show[1] + d); };
  const middle = () => (GUTTER + p.W) / 2;
  let refit = () => {};
  function layout() {
    const h = p.layout(), box = clamp(h + 2, 120, doc.height || 480);
    scroller.style.height = box + 'px';
    spacer.style.height = Math.max(0, h - box + 2) + 'px';
    refit();
  }

  // --- selection
  function at(x, y) {
    if (x < GUTTER || y < p.head) return -1;
    const pin = y < p.head + p.pinned, v = p.vis.find(v => !v[3] === !pin && y >= p.y(v) && y < p.y(v) + ROW);
    if (!v) return -1;
    const t = p.time(x), px = (m.show[1] - m.show[0]) / (p.W - GUTTER), i = upper(S, t + px, off[v[0]], off[v[0] + 1]) - 1;
    return i >= off[v[0]] && E[i] >= t - px * 1.5 ? i : -1;
  }
  function reveal(g) {
    const t = m.tracks[m.trackOf(g)], row = m.rowOf(g);
    if (t.hidden || !t.open && row !== t.first) { t.hidden = false; t.open = true; layout(); }
    const v = p.vis.find(v => v[0] === row);
    if (v && !v[3]) { const y = p.y(v); if (y < p.head + p.pinned || y > p.H - ROW * 2) scroller.scrollTop += y - (p.head + p.pinned + p.H) / 2; }
  }
  // Focus fits the event to about a third of the width.
  function focus(g) { const d = Math.max((E[g] - S[g]) * 3, least), c = (S[g] + E[g]) / 2; reveal(g); go(c - d / 2, c + d / 2); }
  function select(g, show) {
    m.sel = g; m.range = null;
    if (g >= 0 && show) {
      reveal(g);
      const [a, b] = m.show, w = b - a;
      if (E[g] - S[g] < w / 400) focus(g);
      else if (E[g] > b || S[g] < a) { const d = Math.max(w, (E[g] - S[g]) * 1.4), c = (S[g] + E[g]) / 2; go(c - d / 2, c + d / 2); }
    }
    detail.replaceChildren(...(g >= 0 ? describe(g) : [dim('Select an event to see its arguments and what launched it.')]));
    p.draw();
  }
  const selfTime = g => {
    const r = m.rowOf(g), t = m.tracks[m.row[r][0]];
    return t.nested && m.row[r][1] + 1 < t.rows ? E[g] - S[g] - (m.busy(r + 1, E[g]) - m.busy(r + 1, S[g])) : null;
  };
  function describe(g) {
    const t = m.tracks[m.trackOf(g)], self = selfTime(g), rows = [
      ['Duration', fmtTime(E[g] - S[g])], self != null && ['Self', fmtTime(self)], ['Start', fmtTime(S[g])], ['Track', t.name + (t.proc ? ' · ' + t.proc : '')], ['Category', m.cls[N[g]]],
      ['This name', `${group(m.count[N[g]])} ${m.count[N[g]] === 1 ? 'event' : 'events'}, ${fmtTime(m.time[N[g]])} in all`],
      m.path && m.onPath(g) && ['Critical path', 'on it'],
      ...Object.entries(A[g] ? doc.args[A[g]] : {}),
    ].filter(Boolean);
    const links = (m.flows.get(g) || []).slice(0, 12).map(f => {
      const out = D.F[f] === g, o = D.F[out ? f + 1 : f], gap = out ? S[o] - S[g] : S[g] - S[o];
      return button(`${out ? 'to' : 'from'} ${clip(m.shorts[N[o]], 48)} (${fmtTime(gap)} ${out ? 'later' : 'earlier'})`, m.tracks[m.trackOf(o)].name, () => { select(o, true); cv.focus(); });
    });
    return [el('div', { class: 'gpk-name' }, el('b', { textContent: m.names[N[g]] }), button('Find all', 'Search for this name', () => setSearch(m.names[N[g]]))),
      el('dl', {}, ...rows.map(([k, v]) => el('div', {}, el('dt', { textContent: k }), el('dd', { textContent: v })))), ...links.length ? [el('div', { class: 'gpk-links' }, ...links)] : []];
  }

  // --- measuring a range: what ran in it, by name
  function measure() {
    const [a, b] = m.range = m.range[0] < m.range[1] ? m.range : [m.range[1], m.range[0]], by = new Map();
    let n = 0;
    for (let r = 0; r < D.rows; r++) {
      if (m.tracks[m.row[r][0]].hidden) continue;
      for (let i = upper(E, a, off[r], off[r + 1]); i < off[r + 1] && S[i] < b; i++, n++) {
        let o = by.get(N[i]);
        if (!o) by.set(N[i], o = [0, 0]);
        o[0] += Math.min(E[i], b) - Math.max(S[i], a); o[1]++;
      }
    }
    const top = [...by].sort((x, y) => y[1][0] - x[1][0]), rows = top.slice(0, 200).map(([k, [t, c]]) => [m.names[k], m.cls[k], t, c, t / c, t / (b - a) * 100]);
    const cols = [{ n: 'Name' }, { n: 'Category' }, { n: 'Time in range', u: 'ns', heat: true }, { n: 'Events', u: 'n' }, { n: 'Mean', u: 'ns' }, { n: 'Of range', u: '%', h: 'Nested and parallel events each count: the column can pass 100 %' }];
    const box = el('div');
    detail.replaceChildren(el('div', { class: 'gpk-name' }, el('b', { textContent: `Range of ${fmtTime(b - a)}` }), dim(`${fmtTime(a)} to ${fmtTime(b)} · ${group(n)} events, ${group(top.length)} names`), button('Zoom to range', 'Fill the view with the range', () => go(a, b))), box);
    table(box, { cols, data: cols.map((_, i) => rows.map(r => r[i])), sort: 2, height: 240, label: 'Events in the range' });
    bus.emit('range', [a, b]);
    p.draw();
  }

  // --- search
  const q = el('input', { type: 'search', placeholder: 'Search events  ( / )', 'aria-label': 'Search events by name' }), info = dim('', { 'aria-live': 'polite' });
  let hits = 0;
  function search() {
    const s = q.value.trim().toLowerCase();
    m.match = null; hits = 0;
    if (!s) info.textContent = `${group(D.n)} events`;
    else {
      let time = 0;
      m.match = new Uint8Array(m.names.length);
      m.names.forEach((n, i) => { if (n.toLowerCase().includes(s)) { m.match[i] = 1; hits += m.count[i]; time += m.time[i]; } });
      info.textContent = hits ? `${group(hits)} of ${group(D.n)} events, ${fmtTime(time)}` : 'no match';
    }
    p.draw();
  }
  function setSearch(s) { q.value = s; search(); }
  // The next match in time over all visible tracks; ties go by row.
  function step(dir) {
    if (!hits) return;
    const from = m.sel >= 0 ? S[m.sel] : dir > 0 ? -1 : Infinity, fromRow = m.sel >= 0 ? m.rowOf(m.sel) : -1;
    let best = -1;
    for (let r = 0; r < D.rows; r++) {
      const lo = off[r], hi = off[r + 1];
      let i = dir > 0 ? (r > fromRow ? lower(S, from, lo, hi) : upper(S, from, lo, hi)) : (r < fromRow ? upper(S, from, lo, hi) : lower(S, from, lo, hi)) - 1;
      for (; i >= lo && i < hi && (best < 0 || (dir > 0 ? S[i] < S[best] : S[i] >= S[best])); i += dir) if (m.match[N[i]]) { best = i; break; }
    }
    if (best < 0 && m.sel >= 0) { m.sel = -1; return step(dir); }
    if (best >= 0) { select(best, true); info.textContent = info.textContent.replace(/ · at .*/, '') + ` · at ${fmtTime(S[best])}`; }
  }

  // --- tracks: show, pin, open
  function trackList() {
    const f = el('input', { type: 'search', placeholder: 'Filter tracks', 'aria-label': 'Filter tracks' }), list = el('div', { class: 'gpk-tracks' });
    const fill = () => {
      const s = f.value.toLowerCase();
      list.replaceChildren(...m.tracks.filter(t => (t.name + ' ' + t.proc).toLowerCase().includes(s)).slice(0, 400).map(t => {
        const cb = el('input', { type: 'checkbox', checked: !t.hidden, onchange: () => { t.hidden = !cb.checked; layout(); } });
        const pin = button(t.pin ? '★' : '☆', 'Keep at the top', () => { t.pin = !t.pin; pin.textContent = t.pin ? '★' : '☆'; pin.setAttribute('aria-pressed', t.pin); layout(); }, { 'aria-pressed': String(!!t.pin) });
        return el('div', {}, el('label', {}, cb, ' ' + t.name), dim(t.proc || ''), pin);
      }));
    };
    f.addEventListener('input', fill); f.addEventListener('keydown', e => e.stopPropagation());
    const only = () => { const s = f.value.toLowerCase(); m.tracks.forEach(t => { t.hidden = !(t.name + ' ' + t.proc).toLowerCase().includes(s); }); fill(); layout(); };
    const box = popover('Tracks', el('div', { class: 'gpk-bar' }, f, button('Only these', 'Hide all tracks that do not match the filter', only), button('All', 'Show every track', () => { f.value = ''; only(); })), list);
    box.addEventListener('toggle', fill);
    return box;
  }
  const openAll = v => { m.tracks.forEach(t => { t.open = v; }); layout(); };

  // --- saving: Chrome trace JSON, for Perfetto and speedscope, written from the packed data
  function save() {
    const pids = new Map(), parts = ['{"displayTimeUnit":"ns","traceEvents":['], us = t => (t / 1e3).toFixed(3), pid = t => { if (!pids.has(t.proc)) pids.set(t.proc, pids.size + 1); return pids.get(t.proc); };
    const ev = [];
    const push = o => { ev.push(o); if (ev.length > 5000) { parts.push(ev.join(',\n') + ',\n'); ev.length = 0; } };
    m.tracks.forEach((t, k) => push(JSON.stringify({ ph: 'M', name: 'thread_name', pid: pid(t), tid: k, args: { name: t.name } })));
    for (const [n, id] of pids) push(JSON.stringify({ ph: 'M', name: 'process_name', pid: id, args: { name: n || 'process' } }));
    const names = m.names.map(n => JSON.stringify(n)), cats = m.cls.map(c => JSON.stringify(c)), args = doc.args.map(a => JSON.stringify(a));
    const head = m.row.map(([k]) => `"pid":${pid(m.tracks[k])},"tid":${k},"ts":`);
    for (let r = 0; r < D.rows; r++) for (let i = off[r]; i < off[r + 1]; i++) push(`{"ph":"X","name":${names[N[i]]},"cat":${cats[N[i]]},${head[r]}${us(S[i])},"dur":${us(E[i] - S[i])}${A[i] ? ',"args":' + args[A[i]] : ''}}`);
    for (let f = 0; f < D.F.length; f++) push(`{"ph":"${f % 2 ? 'f","bp":"e' : 's'}","id":${f >> 1},"cat":"flow","name":"flow",${head[m.rowOf(D.F[f])]}${us(S[D.F[f]])}}`);
    const t0 = JSON.stringify({ ph: 'i', s: 'g', name: 'trace start', pid: 0, tid: 0, ts: 0 });
    parts.push(ev.join(',\n') + (ev.length ? ',\n' : '') + t0 + ']}');
    return new Blob(parts, { type: 'application/json' });
  }

  // --- toolbar
  const path = m.path && button('Critical path', 'Fade everything that is not on the critical path', () => { m.pathOnly = !m.pathOnly; path.setAttribute('aria-pressed', m.pathOnly); p.draw(); }, { 'aria-pressed': 'false' });
  const legend = el('div', { class: 'gpk-legend', role: 'group', 'aria-label': 'Categories' }), present = [...new Set(m.cls.filter((_, i) => m.count[i]))];
  const paintLegend = () => { const dark = theme(root).dark; legend.replaceChildren(...present.map(c => button(c, `Show or fade ${c} events`, () => { m.mute.has(c) ? m.mute.delete(c) : m.mute.add(c); paintLegend(); p.draw(); }, { class: 'gpk-key', style: '--c:' + classColor(c, 3, dark), 'aria-pressed': String(!m.mute.has(c)) }))); };
  root.replaceChildren(
    el('div', { class: 'gpk-bar', role: 'toolbar', 'aria-label': 'Timeline tools' }, q, button('‹', 'Previous match (Shift+Enter)', () => step(-1)), button('›', 'Next match (Enter)', () => step(1)), info, el('span', { class: 'gpk-grow' }), path || null,
      button('+', 'Zoom in (W)', () => zoom(.6, middle())), button('−', 'Zoom out (S)', () => zoom(1 / .6, middle())), button('Fit', 'Show everything (0)', fit), button('Open all', 'Show all rows of all tracks', () => openAll(true)), button('Close all', 'One row per track', () => openAll(false)), trackList(),
      button('Save trace', 'Download as Chrome trace JSON, for Perfetto or speedscope', () => download('trace.json', save()))),
    ...(doc.note ? [el('p', { class: 'gpk-note', textContent: doc.note })] : []), legend, scroller, el('p', { class: 'gpk-hint', textContent: 'Ctrl+wheel zooms, drag pans, Shift+drag measures, click selects; W A S D, 0 fit, F focus, / search, ← → next event, Esc clears' }), detail, tip);

  // --- pointer
  let drag = null;
  const xy = e => { const r = cv.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  cv.addEventListener('wheel', e => {
    const [x] = xy(e);
    if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(Math.exp(clamp(e.deltaY, -60, 60) * .005), x); }
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); pan((e.deltaX || e.deltaY) / (p.W - GUTTER)); }
  }, { passive: false });
  scroller.addEventListener('scroll', p.draw);
  const mapTo = x => { const c = (x - GUTTER) / (p.W - GUTTER) * m.end, d = m.show[1] - m.show[0]; go(c - d / 2, c + d / 2); };
  cv.addEventListener('pointerdown', e => {
    if (e.button) return;
    const [x, y] = xy(e);
    cv.setPointerCapture(e.pointerId);
    if (x < GUTTER && y > p.head) {
      const v = p.vis.find(v => y >= p.y(v) && y < p.y(v) + ROW), t = v && m.tracks[v[2]];
      if (t) { t.open = !t.open; layout(); }
      return;
    }
    drag = { x, y, show: m.show, top: scroller.scrollTop, mode: y < MAP ? 'map' : e.shiftKey ? 'range' : 'pan' };
    if (drag.mode === 'map') mapTo(x);
  });
  cv.addEventListener('pointermove', e => {
    const [x, y] = xy(e);
    m.cursor = x > GUTTER && y > MAP ? p.time(x) : null;
    if (!drag) {
      const h = at(x, y);
      m.hover = h;
      cv.style.cursor = h >= 0 || x < GUTTER && y > p.head ? 'pointer' : y < MAP ? 'ew-resize' : 'default';
      if (h < 0) tip.hidden = true;
      else {
        tip.replaceChildren(el('b', { textContent: clip(m.names[N[h]], 300) }), el('div', { textContent: `${fmtTime(E[h] - S[h])} · ${m.cls[N[h]]} · ${m.tracks[m.trackOf(h)].name}` }));
        placeTip(tip, root, e);
      }
      return p.draw();
    }
    tip.hidden = true;
    if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3) drag.moved = true;
    if (drag.mode === 'map') mapTo(x);
    else if (drag.mode === 'range') { m.range = [p.time(drag.x), p.time(clamp(x, GUTTER, p.W))]; p.draw(); }
    else { const d = (drag.x - x) / (p.W - GUTTER) * (drag.show[1] - drag.show[0]); scroller.scrollTop = drag.top + drag.y - y; go(drag.show[0] + d, drag.show[1] + d); }
  });
  cv.addEventListener('pointerup', e => {
    const d = drag;
    drag = null;
    if (!d || d.mode === 'map') return;
    if (!d.moved) select(at(...xy(e)));
    else if (d.mode === 'range' && m.range) measure();
  });
  cv.addEventListener('pointercancel', () => { drag = null; });
  cv.addEventListener('pointerleave', () => { m.hover = -1; m.cursor = null; tip.hidden = true; p.draw(); });
  cv.addEventListener('dblclick', e => { const g = at(...xy(e)); if (g >= 0) { select(g); focus(g); } });

  // --- keys
  function neighbour(dir) {
    if (m.sel < 0) { const r = p.vis.find(v => off[v[0] + 1] > off[v[0]]); return r && select(lower(S, m.show[0], off[r[0]], off[r[0] + 1] - 1), true); }
    const r = m.rowOf(m.sel), g = m.sel + dir;
    if (g >= off[r] && g < off[r + 1]) select(g, true);
  }
  function vertical(dir) { // to the caller or the first callee
    if (m.sel < 0) return neighbour(1);
    const r = m.rowOf(m.sel) + dir, same = r >= 0 && r < D.rows && m.row[r][0] === m.trackOf(m.sel);
    if (!same) return;
    const i = dir < 0 ? upper(S, S[m.sel], off[r], off[r + 1]) - 1 : lower(S, S[m.sel], off[r], off[r + 1]);
    if (i >= off[r] && i < off[r + 1] && (dir < 0 || S[i] < E[m.sel])) select(i, true);
  }
  const keys = {
    w: () => zoom(.75, middle()), s: () => zoom(1 / .75, middle()), a: () => pan(-.15), d: () => pan(.15), 0: fit, f: () => m.sel >= 0 && focus(m.sel), '/': () => q.focus(), Enter: () => m.sel >= 0 && focus(m.sel),
    Escape: () => { select(-1); bus.emit('range', null); }, ArrowRight: () => neighbour(1), ArrowLeft: () => neighbour(-1), ArrowDown: () => vertical(1), ArrowUp: () => vertical(-1), n: () => step(1), N: () => step(-1),
  };
  keys['+'] = keys['='] = keys.w; keys['-'] = keys.s;
  cv.addEventListener('keydown', e => {
    const k = e.key.length === 1 && e.key !== 'N' ? e.key.toLowerCase() : e.key;
    if (keys[k] && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); e.stopPropagation(); keys[k](); }
  });
  q.addEventListener('input', search);
  q.addEventListener('keydown', e => { e.stopPropagation(); if (e.key === 'Enter') step(e.shiftKey ? -1 : 1); if (e.key === 'Escape') { setSearch(''); cv.focus(); } });

  bus.on('find', s => { setSearch(s); m.sel = -1; step(1); });
  onTheme(root, () => { p.recolor(); paintLegend(); });
  layout();
  refit = fitCanvas(scroller, cv, () => scroller.clientHeight, p.resize);
  p.recolor(); paintLegend(); search(); select(-1);
  p.paint();
  return { model: m, go, fit, zoom, select, search: setSearch, step, measure: (a, b) => { m.range = [a, b]; measure(); }, save, paint: p.paint, get work() { return p.work; }, get show() { return m.show; } };
}
