// A table over columns of data: sorted, filtered, copied, saved. Only rows near the view are in the page once there are
// more than WINDOW of them; below that all are, so that the browser's own search finds them.

const WINDOW = 300, LINE = 24;

function popover(label, ...kids) {
  const d = el('details', { class: 'gpk-pop' }, el('summary', { textContent: label }), el('div', {}, ...kids));
  d.addEventListener('keydown', e => { if (e.key === 'Escape') { d.open = false; d.firstChild.focus(); } });
  return d;
}

// Long names of kernels are told apart by what stands at both ends.
const ends = (s, n) => { const t = shorten(s); return t.length <= n ? t : t.slice(0, Math.ceil(n * .6)) + '…' + t.slice(t.length - Math.floor(n * .4) + 1); };

// spec: cols [{n name, u unit, h help, heat, hide}], data (one array per column), sort, height, label, find (column whose
// text a row offers to the timeline), span ([from, to] columns in ns that a selected range filters by), total.
function table(root, spec, bus) {
  const { cols, data } = spec, count = data[0] ? data[0].length : 0, num = cols.map(c => !!c.u);
  const hidden = new Set(cols.flatMap((c, i) => c.hide ? [i] : [])), max = cols.map((c, i) => c.heat ? data[i].reduce((a, b) => Math.max(a, Math.abs(b)), 0) : 0);
  let sort = spec.sort ?? -1, desc = sort >= 0 && num[sort], idx = [], first = -1, range = null;
  const words = cols.map((_, i) => i).filter(i => !num[i]), text = i => words.map(c => data[c][i]).join('\t').toLowerCase();

  const q = el('input', { type: 'search', placeholder: 'Filter rows', title: 'Part of a text, or /regular expression/', 'aria-label': 'Filter rows' }), info = dim('', { 'aria-live': 'polite' });
  const pick = popover('Columns', ...cols.map((c, i) => { const cb = el('input', { type: 'checkbox', checked: !hidden.has(i), disabled: !i, onchange: () => { cb.checked ? hidden.delete(i) : hidden.add(i); head(); body(true); } }); return el('label', { title: c.h || '' }, cb, ' ' + c.n); }));
  const copy = button('Copy', 'Copy the rows as tab-separated text', async () => {
    try { await navigator.clipboard.writeText(lines('\t')); } catch { const t = el('textarea', { value: lines('\t') }); root.append(t); t.select(); document.execCommand('copy'); t.remove(); }
    copy.textContent = 'Copied'; setTimeout(() => { copy.textContent = 'Copy'; }, 1200);
  });
  const save = button('CSV', 'Save the rows as CSV; times in ns, sizes in bytes', () => download((spec.file || 'table') + '.csv', new Blob([lines(',')], { type: 'text/csv' })));
  // A cell that a spreadsheet would take for a formula gets an apostrophe.
  const cell = (v, sep) => { v = v == null ? '' : String(v); if (/^[=+\-@\t\r]/.test(v) && isNaN(v)) v = "'" + v; return sep === ',' ? /[",\n\r]/.test(v) ? '"' + v.replace(/"/g, '""') + '"' : v : v.replace(/[\t\n\r]+/g, ' '); };
  const lines = sep => [cols.map(c => cell(c.n + (c.u && c.u !== 'n' && c.u !== 'f' ? ` (${c.u})` : ''), sep)).join(sep), ...idx.map(i => cols.map((_, c) => cell(data[c][i], sep)).join(sep))].join('\n') + '\n';

  const group_ = el('colgroup'), headRow = el('tr'), tb = el('tbody');
  const tbl = el('table', { class: 'gpk-t', 'aria-rowcount': count + 1 }, el('caption', { class: 'gpk-vh', textContent: spec.label || 'Table' }), group_, el('thead', {}, headRow), tb);
  const box = el('div', { class: 'gpk-ts', tabIndex: 0, role: 'region', 'aria-label': (spec.label || 'Table') + ', scrollable', style: `max-height:${spec.height || 420}px` }, tbl);
  const tools = count > 12 || cols.some(c => c.hide);
  root.replaceChildren(el('div', { class: 'gpk-bar' }, ...(tools ? [q, info] : []), el('span', { class: 'gpk-grow' }), ...(tools ? [pick] : []), copy, save), box);

  // Widths come from what the columns hold, measured once over a sample.
  const widths = cols.map((c, i) => {
    let w = c.n.length + 3;
    const step = Math.max(1, Math.floor(count / 200));
    for (let k = 0; k < count; k += step) w = Math.max(w, num[i] ? format(c.u, data[i][k], spec.time).length : String(data[i][k] ?? '').length);
    return clamp(w, 5, i ? 38 : 54) * (num[i] ? 6.8 : 7.2) + 22;
  });
  const shown = () => cols.map((_, i) => i).filter(i => !hidden.has(i));
  // What the other columns leave is the first one's, within its own width and 260 pixels.
  let chars = 60; // that fit into the first column
  function fit() {
    const vis = shown(), rest = vis.reduce((a, i) => a + (i ? widths[i] : 0), 0), first_ = group_.firstChild, room = box.clientWidth;
    if (!first_ || !room) return false;
    const w = clamp(room - rest, Math.min(widths[0], 260), widths[0]), was = chars;
    first_.style.width = w + 'px';
    chars = Math.max(12, Math.floor((w - 20) / 6.9));
    return chars !== was;
  }
  function head() {
    const vis = shown();
    group_.replaceChildren(...vis.map(i => el('col', { style: `width:${widths[i]}px` })));
    tbl.style.minWidth = vis.reduce((a, i) => a + (i ? widths[i] : Math.min(widths[i], 260)), 0) + 'px';
    fit();
    headRow.replaceChildren(...vis.map(i => el('th', { scope: 'col', class: num[i] ? 'r' : null, title: cols[i].h || null, 'aria-sort': i === sort ? desc ? 'descending' : 'ascending' : 'none' },
      button(cols[i].n + (i === sort ? desc ? ' ▾' : ' ▴' : ''), '', () => { if (sort === i) desc = !desc; else { sort = i; desc = num[i]; } order(); headRow.children[shown().indexOf(i)].firstChild.focus(); }))));
  }
  function order() {
    let s = q.value.trim(), ok = () => true, bad = false;
    const re = s.match(/^\/(.+)\/$/);
    if (re) try { const r = new RegExp(re[1], 'i'); ok = i => r.test(text(i)); } catch { bad = true; }
    else if (s) { s = s.toLowerCase(); ok = i => text(i).includes(s); }
    idx = [];
    const [fa, fb] = spec.span || [];
    for (let i = 0; i < count; i++) {
      if (range && spec.span) { const a = data[fa][i], b = data[fb][i]; if ((a ?? -Infinity) > range[1] || (b ?? Infinity) < range[0]) continue; }
      if (ok(i)) idx.push(i);
    }
    if (sort >= 0) {
      const c = data[sort], d = desc ? -1 : 1;
      if (num[sort]) idx.sort((a, b) => d * ((c[a] ?? -Infinity) - (c[b] ?? -Infinity) || 0) || a - b);
      else { const low = c.map(v => String(v ?? '').toLowerCase()); idx.sort((a, b) => d * (low[a] < low[b] ? -1 : low[a] > low[b] ? 1 : 0) || a - b); }
    }
    const all = spec.total > count ? `${group(count)} of ${group(spec.total)}` : group(count);
    info.textContent = bad ? 'not a regular expression' : (idx.length === count ? `${all} ${count === 1 ? 'row' : 'rows'}` : `${group(idx.length)} of ${all} rows`) + (range && spec.span ? ', in the selected range' : '');
    box.scrollTop = 0;
    head(); body(true);
  }
  function body(force) {
    const all = idx.length <= WINDOW, view = Math.ceil((spec.height || 420) / LINE), a = all ? 0 : Math.max(0, Math.floor(box.scrollTop / LINE) - 10), b = all ? idx.length : Math.min(idx.length, a + view + 24);
    if (!force && a === first) return;
    first = a;
    const vis = shown(), pad = n => el('tr', { 'aria-hidden': 'true' }, el('td', { colSpan: vis.length, style: `height:${n * LINE}px;padding:0;border:0` }));
    const out = a ? [pad(a)] : [];
    for (let k = a; k < b; k++) out.push(line(idx[k], k, vis));
    if (b < idx.length) out.push(pad(idx.length - b));
    if (!idx.length) out.push(el('tr', {}, el('td', { class: 'gpk-none', colSpan: vis.length, textContent: 'No rows' })));
    tb.replaceChildren(...out);
  }
  function line(i, k, vis) {
    const tr = el('tr', { 'aria-rowindex': k + 2 });
    for (const c of vis) {
      const v = data[c][i], n = num[c], s = n ? format(cols[c].u, v, spec.time) : v == null ? '' : String(v), td = el(c ? 'td' : 'th', c ? { class: n ? 'r' : null } : { scope: 'row' });
      if (!n) td.title = s;
      const short = c || s.length <= chars ? s : ends(s, chars);
      if (cols[c].heat && max[c] && v) { td.style.setProperty('--w', (Math.abs(v) / max[c] * 100).toFixed(1) + '%'); td.classList.add(v < 0 ? 'neg' : 'bar'); }
      if (c === spec.find && bus && bus.has('find')) td.append(el('button', { type: 'button', class: 'gpk-find', textContent: short, title: s + '\nFind in the timeline', onclick: () => bus.emit('find', s) }));
      else td.textContent = short;
      tr.append(td);
    }
    return tr;
  }
  let raf = 0;
  box.addEventListener('scroll', () => { raf = raf || requestAnimationFrame(() => { raf = 0; body(); }); });
  q.addEventListener('input', order);
  q.addEventListener('keydown', e => e.stopPropagation());
  box.addEventListener('keydown', e => { if (/^(Arrow|Page|Home|End)/.test(e.key)) e.stopPropagation(); });
  new ResizeObserver(() => { if (fit()) body(true); }).observe(box);
  if (bus && spec.span) bus.on('range', r => { range = r; order(); });
  order();
  return { sortBy: (i, d) => { sort = i; desc = d; order(); }, filter: s => { q.value = s; order(); }, csv: () => lines(','), get shown() { return idx.length; } };
}
