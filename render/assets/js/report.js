// The report: header, tabs, parts, and the way an output of a notebook becomes one.
//
// Every output carries this whole library. Whichever runs first wins; `window.__gpk1` is a list of ids until then and an
// object whose push upgrades at once from then on, so outputs may come in any order, be lost, or be shown twice.

const KINDS = { tiles, stack, advice, note, table, flame, echart, timeline, curve };

function makeBus() {
  const on = {};
  return { on: (k, f) => (on[k] = on[k] || []).push(f), emit: (k, v) => (on[k] || []).forEach(f => f(v)), has: k => k in on };
}

// blob(i) gives the i-th packed data, unpacked when it is first asked for.
function report(root, doc, blob) {
  root.append(el('header', { class: 'gpk-head' }, doc.title ? el('h3', { textContent: doc.title }) : null, doc.note ? el('p', { class: 'gpk-dim', textContent: doc.note }) : null));
  if (!doc.groups) return views(root, doc, blob);
  // Several traces: one document each, chosen by name.
  const box = el('div'), choose = el('select', { 'aria-label': 'Trace', onchange: () => show(+choose.value) }, ...doc.groups.map((g, i) => el('option', { value: i, textContent: g.label })));
  root.append(el('div', { class: 'gpk-bar' }, el('label', {}, dim('Worker '), choose)), box);
  const boxes = [], out = { doc, choose: i => { choose.value = i; return show(i); } };
  async function show(i) {
    if (!boxes[i]) {
      boxes[i] = el('div');
      box.append(boxes[i]);
      out[i] = await views(boxes[i], JSON.parse(new TextDecoder().decode(await blob(doc.groups[i].blob))), blob);
    }
    boxes.forEach((b, k) => { b.hidden = k !== i; });
    return out[i];
  }
  return show(0).then(() => out);
}

async function views(root, doc, blob) {
  const bus = makeBus(), made = {}, uid = 'gpk' + Math.random().toString(36).slice(2, 9), many = doc.views.length > 1;
  // What listens to 'find' is the timeline, which may not have been opened yet: it is, before the word is passed on.
  const home = doc.views.findIndex(v => v.parts.some(p => p.k === 'timeline'));
  if (home >= 0) {
    const emit = bus.emit, has = bus.has;
    bus.has = k => k === 'find' || has(k);
    bus.emit = async (k, v) => { if (k === 'find') { await open(home); panels[home].scrollIntoView({ block: 'nearest' }); } emit(k, v); };
  }
  const panels = doc.views.map((v, i) => el('section', { class: 'gpk-panel', id: `${uid}-p${i}`, role: many ? 'tabpanel' : null, 'aria-labelledby': many ? `${uid}-t${i}` : null, hidden: true }));
  const tabs = doc.views.map((v, i) => button(v.label, '', () => open(i), { role: 'tab', id: `${uid}-t${i}`, 'aria-controls': `${uid}-p${i}`, 'aria-selected': 'false', tabIndex: -1 }));
  const bar = el('div', { class: 'gpk-tabs', role: 'tablist', 'aria-label': 'Views' }, ...tabs);
  bar.addEventListener('keydown', e => {
    const i = tabs.indexOf(document.activeElement), n = tabs.length, to = { ArrowRight: (i + 1) % n, ArrowLeft: (i + n - 1) % n, Home: 0, End: n - 1 }[e.key];
    if (to == null) return;
    e.preventDefault(); e.stopPropagation();
    open(to); tabs[to].focus();
  });
  function open(i) {
    tabs.forEach((t, k) => { t.setAttribute('aria-selected', String(k === i)); t.tabIndex = k === i ? 0 : -1; panels[k].hidden = k !== i; });
    made[i] = made[i] || Promise.all(doc.views[i].parts.map(p => part(panels[i], p)));
    return made[i];
  }
  async function part(panel, p) {
    p.time = doc.unit;
    const body = el('div', { class: 'gpk-body' }), box = el('div', { class: 'gpk-part' + (p.half ? ' gpk-half' : '') }, p.title ? el('h4', { textContent: p.title }) : null, p.note && p.k !== 'timeline' ? el('p', { class: 'gpk-note', textContent: p.note }) : null, body);
    panel.append(box);
    try { return p.blob == null ? KINDS[p.k](body, p, bus) : KINDS[p.k](body, p, await blob(p.blob), bus); }
    catch (e) { body.append(dim('This part could not be drawn: ' + e.message)); console.error('gander', e); }
  }
  root.append(...(many ? [bar] : []), ...panels);
  const self = { doc, bus, made, open: async name => { const i = typeof name === 'number' ? name : doc.views.findIndex(v => v.id === name); return i in panels ? open(i) : null; } };
  await open(0);
  return self;
}

async function upgrade(node) {
  // An output can be in the page twice (JupyterLab's New View for Output), and JupyterLab renames ids of untrusted ones.
  if (typeof node === 'string') return Promise.all([...document.querySelectorAll(`[id="${CSS.escape(node)}"],[data-jupyter-id="${CSS.escape(node)}"]`)].map(upgrade));
  if (node.dataset.state) return;
  node.dataset.state = 'loading';
  const live = el('div', { class: 'gpk-live' });
  try {
    if (!document.getElementById('gpk1-style')) document.head.append(el('style', { id: 'gpk1-style', textContent: STYLE }));
    const packed = [...node.querySelectorAll('script[type="text/plain"]:not([data-gpk-lib]):not([data-gpk-code])')], meta = JSON.parse(node.querySelector('script[type="application/json"]').textContent);
    if (meta.v !== 1) throw new Error('made by another version');
    const texts = packed.map(s => s.textContent).slice(1), done = [], blob = i => done[i] = done[i] || inflate(texts[i]), doc = await inflateJSON(packed[0].textContent);
    const still = node.querySelector('.gpk-static');
    const dark = () => { const d = theme(node).dark; node.classList.toggle('gpk-dark', d); node.style.colorScheme = d ? 'dark' : 'light'; };
    dark(); onTheme(node, dark);
    node.append(live);
    node.gpk = await report(live, doc, blob);
    still.querySelectorAll('.gpk-trust').forEach(e => e.remove());
    const keep = el('details', { class: 'gpk-fallback' }, el('summary', { textContent: 'Static pictures and tables' }));
    node.append(keep); keep.append(still);
    node.dataset.state = 'live';
  } catch (e) {
    live.remove();
    node.dataset.state = 'failed';
    node.append(el('small', { textContent: 'The interactive view is not available: ' + e.message }));
    console.error('gander', e);
  }
}

const waiting = window.__gpk1 || [];
window.__gpk1 = { push: upgrade, version: 1 };
waiting.forEach(upgrade);
