// The small parts of a report: figures, stacked bars, advice, and charts of the chart library.

function tiles(root, doc) {
  root.append(el('div', { class: 'gpk-tiles' }, ...doc.items.map(t => el('div', { title: t.h || '' }, el('span', { class: 'gpk-dim', textContent: t.l }), el('b', { textContent: t.v }),
    ...(t.bar != null ? [el('i', { class: 'gpk-meter', role: 'presentation' }, el('i', { style: `width:${clamp(t.bar * 100, 0, 100)}%` }))] : []), ...(t.s ? [el('small', { textContent: t.s })] : [])))));
}

// One horizontal bar per label, cut into categories; a table with the same numbers stands below it in the report.
function stack(root, doc) {
  const sum = doc.labels.map((_, i) => doc.data.reduce((a, d) => a + d[i], 0)), top = Math.max(1e-9, ...sum), used = doc.cats.map((_, c) => doc.data[c].some(v => v > 0));
  const color = c => SERIES[doc.colors ? doc.colors[c] : c % SERIES.length];
  root.append(el('div', { class: 'gpk-legend' }, ...doc.cats.map((c, i) => used[i] ? el('span', { class: 'gpk-key', style: '--c:' + color(i), textContent: c }) : null)),
    el('div', { class: 'gpk-stack', role: 'img', 'aria-label': doc.label || doc.title }, ...doc.labels.map((l, i) => el('div', {}, el('span', { class: 'gpk-lab', title: l, textContent: l }),
      el('span', { class: 'gpk-bars' }, ...doc.cats.map((c, k) => doc.data[k][i] > 0 ? el('i', { style: `width:${(doc.data[k][i] / top * 100).toFixed(3)}%;background:${color(k)}`, title: `${c}: ${format(doc.unit, doc.data[k][i])} (${(doc.data[k][i] / sum[i] * 100).toFixed(1)} %)` }) : null)),
      el('span', { class: 'gpk-val', textContent: format(doc.unit, sum[i]) })))));
}

function advice(root, doc, bus) {
  root.append(el('ul', { class: 'gpk-advice' }, ...doc.items.map(a => el('li', { class: 'gpk-' + a.sev }, el('b', { textContent: a.title }), el('p', { textContent: a.text }), a.remedy ? el('p', { class: 'gpk-do', textContent: a.remedy }) : null,
    a.seen && a.seen.length ? el('details', {}, el('summary', { textContent: 'Evidence' }), el('ul', {}, ...a.seen.map(s => el('li', {}, s[0] + ' ', ...(s[1] && bus.has('find') ? [button('Find', 'Find in the timeline', () => bus.emit('find', s[1]))] : []))))) : null))));
}

function note(root, doc) { root.append(el('p', { class: 'gpk-note', textContent: doc.text })); }

// One compressed copy of the chart library per notebook, in whichever output came first. Its text is run inside a
// function that hides the page's AMD loader, so that no loader catches it and no global is left behind.
const libraries = {};
function library(name) {
  return libraries[name] = libraries[name] || new Promise((resolve, reject) => {
    let mo, timer;
    const look = () => {
      const s = document.querySelector(`script[data-gpk-lib="${name}"]`);
      if (!s) return false;
      if (mo) mo.disconnect();
      clearTimeout(timer);
      inflate(s.textContent).then(u => {
        const t = document.createElement('script'), box = window.__gpkLibrary = {};
        t.textContent = '(function(define,exports,module){' + new TextDecoder().decode(u) + '\n;window.__gpkLibrary.lib=gpkECharts})()';
        document.head.append(t); t.remove();
        delete window.__gpkLibrary;
        if (box.lib) resolve(box.lib); else reject(new Error('the chart library did not start'));
      }).catch(reject);
      return true;
    };
    if (look()) return;
    mo = new MutationObserver(look);
    mo.observe(document.documentElement, { childList: true, subtree: true });
    timer = setTimeout(() => { mo.disconnect(); delete libraries[name]; reject(new Error('the chart library is in an output that is not here any more; run the cell again')); }, 2e4);
  });
}
// Options hold data only. A function is named by a string and taken from this list.
const NAMED = { '@fn:time': fmtTime, '@fn:tick': v => trimZeros(fmtTime(v)), '@fn:bytes': fmtBytes, '@fn:count': group, '@fn:percent': v => v.toFixed(1) + ' %' };
function named(o, depth) {
  if (depth > 40) return o;
  for (const k of Object.keys(o)) {
    const v = o[k];
    if (v && typeof v === 'object') named(v, depth + 1);
    else if (typeof v === 'string' && k !== 'name' && Object.hasOwn(NAMED, v)) o[k] = NAMED[v];
  }
  return o;
}
function echart(root, doc) {
  const box = el('div', { style: `height:${doc.height || 320}px`, role: 'img', 'aria-label': doc.label || doc.title || 'Chart' });
  root.append(box);
  const wait = dim('Loading the chart library …');
  box.append(wait);
  let chart;
  library(doc.lib).then(ec => {
    wait.remove();
    const make = () => {
      const th = theme(root), o = named(structuredClone(doc.option), 0);
      if (chart) chart.dispose();
      chart = ec.init(box, th.dark ? 'dark' : null, { renderer: 'canvas' });
      o.tooltip = Object.assign({ renderMode: 'richText', confine: true }, o.tooltip, { renderMode: 'richText' });
      chart.setOption({ ...o, backgroundColor: 'transparent', animation: false, color: SERIES, textStyle: { color: th.fg } });
    };
    make(); onTheme(root, make);
    new ResizeObserver(() => chart.resize()).observe(box);
  }).catch(e => { wait.textContent = 'Chart unavailable: ' + e.message; const s = root.closest('.gpk').querySelector('.gpk-fallback'); if (s) s.open = true; });
  return { get chart() { return chart; } };
}
