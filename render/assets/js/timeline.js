// The timeline's data and drawing. A row is a list of sorted events that do not overlap, in typed arrays. One paint does
// work bounded by pixels, not by events: per visible row a binary search finds the first event, wide events fill spans of
// one line of 32-bit pixels, and where several share a pixel their coverage comes from prefix sums and the colour from
// samples, then the search gallops to the next pixel. The line is then copied to the height of the row.
// timeline_ui.js adds everything that reacts to people.

const ROW = 16, GAP = 6, GUTTER = 176, MAP = 30, AXIS = 20, STEPS = 16;
const FONT = '11px system-ui,-apple-system,"Segoe UI",sans-serif';

function timelineModel(doc, D) {
  const { off } = D, m = { doc, D, row: [], tracks: doc.tracks, end: Math.max(D.end, doc.end || 0, 1), match: null, mute: new Set(), sel: -1, hover: -1, range: null };
  m.names = doc.names; m.shorts = doc.names.map(shorten); m.cls = doc.cls.map(i => doc.classes[i]);
  m.tracks.forEach((t, k) => { t.first = m.row.length; t.open = !t.shut; for (let d = 0; d < t.rows; d++) m.row.push([k, d]); });
  m.count = new Uint32Array(m.names.length); m.time = new Float64Array(m.names.length);
  for (let i = 0; i < D.n; i++) { m.count[D.N[i]]++; m.time[D.N[i]] += D.E[i] - D.S[i]; }
  m.flows = new Map();
  for (let f = 0; f < D.F.length; f += 2) for (const e of [D.F[f], D.F[f + 1]]) { const l = m.flows.get(e); l ? l.push(f) : m.flows.set(e, [f]); }
  m.rowOf = g => upper(off, g, 0, off.length) - 1;
  m.trackOf = g => m.row[m.rowOf(g)][0];
  // Busy ns of row r before time t.
  m.busy = (r, t) => { const i = upper(D.S, t, off[r], off[r + 1]) - 1; return i < off[r] ? 0 : D.C[i] + Math.min(t, D.E[i]) - D.S[i]; };
  if (doc.path) { m.path = new Uint32Array(doc.path.length); let g = 0; doc.path.forEach((d, k) => { m.path[k] = g += d; }); } // events of the critical path, in order
  m.onPath = g => { const k = lower(m.path, g, 0, m.path.length); return m.path[k] === g; };
  m.on = (n, g) => (!m.match || m.match[n]) && !m.mute.has(m.cls[n]) && (!m.pathOnly || m.onPath(g));
  m.show = [0, m.end];
  return m;
}

// painter owns the canvas. Its layout is a list of visible rows [row, y, track, pinned] and the heights of both parts.
function timelinePainter(m, cv, root, scroller) {
  const ctx = cv.getContext('2d', { alpha: false }), { D } = m, { S, E, C, N, off } = D;
  const head = MAP + AXIS + (m.doc.marks.length ? STEPS : 0), p = { vis: [], pinned: 0, height: 0, W: 0, H: 0, dpr: 1, work: 0, head };
  let img, buf, line, col, dimmed, th, util, raf = 0;

  p.x = t => GUTTER + (t - m.show[0]) / (m.show[1] - m.show[0]) * (p.W - GUTTER);
  p.time = x => m.show[0] + (x - GUTTER) / (p.W - GUTTER) * (m.show[1] - m.show[0]);
  p.y = v => head + v[1] + (v[3] ? 0 : p.pinned - scroller.scrollTop);

  p.layout = () => {
    p.vis = [];
    const order = [...m.tracks.keys()].filter(k => !m.tracks[k].hidden), pins = order.filter(k => m.tracks[k].pin);
    const place = (list, pin) => {
      let y = list.length ? GAP / 2 : 0;
      for (const k of list) {
        const t = m.tracks[k];
        for (let d = 0; d < (t.open ? t.rows : 1); d++, y += ROW) p.vis.push([t.first + d, y, k, pin]);
        y += GAP;
      }
      return y;
    };
    p.pinned = place(pins, true);
    p.height = place(order.filter(k => !m.tracks[k].pin), false);
    p.draw();
    return head + p.pinned + p.height;
  };

  p.recolor = () => {
    th = theme(root);
    const pack = (r, g, b) => (255 << 24 | b << 16 | g << 8 | r) >>> 0, [br, bg, bb] = th.px;
    col = new Uint32Array(m.names.length); dimmed = new Uint32Array(m.names.length); col.bg = pack(br, bg, bb);
    m.names.forEach((n, i) => {
      const [r, g, b] = rgb(classColor(stateClass(m.cls[i], m.names[i]), hash(m.shorts[i]), th.dark)), f = .16;
      col[i] = pack(r, g, b); dimmed[i] = pack(br + (r - br) * f, bg + (g - bg) * f, bb + (b - bb) * f);
    });
    p.draw();
  };

  p.resize = (w, h, d) => {
    p.W = w; p.H = h; p.dpr = d;
    const pw = Math.max(1, cv.width - Math.round(GUTTER * d)), ph = Math.max(1, cv.height - Math.round(head * d));
    img = new ImageData(pw, ph); buf = new Uint32Array(img.data.buffer); line = new Uint32Array(pw);
    utilisation();
    if (th) p.paint();
  };

  // Busy share of host tracks and of device tracks per pixel of the minimap.
  function utilisation() {
    const w = Math.max(1, Math.floor(p.W - GUTTER)), sum = { host: new Float32Array(w), device: new Float32Array(w) };
    m.tracks.forEach(t => {
      const a = sum[t.kind === 'device' ? 'device' : 'host'];
      let prev = 0;
      for (let x = 0; x < w; x++) { const b = m.busy(t.first, m.end * (x + 1) / w); a[x] += b - prev; prev = b; }
    });
    util = {};
    for (const k in sum) { // scaled to the busiest pixel when more than one track runs at once
      const px = m.end / w, top = Math.max(px, sum[k].reduce((a, b) => Math.max(a, b), 0));
      util[k] = sum[k].map(v => v / top);
    }
  }

  // One row into line; returns false when nothing of it is in view. Labels are collected for wide events.
  function fillRow(r, labels, y) {
    const pw = line.length, [T0, T1] = m.show, k = pw / (T1 - T0), hi = off[r + 1], bg = col.bg, b0 = bg & 255, b1 = bg >> 8 & 255, b2 = bg >> 16 & 255;
    let i = upper(E, T0, off[r], hi), any = false;
    line.fill(bg);
    while (i < hi && S[i] < T1) {
      any = true;
      const x0 = (S[i] - T0) * k, x1 = (E[i] - T0) * k;
      if (x1 - x0 >= 1.5) {
        const a = x0 < 0 ? 0 : Math.round(x0), b = x1 > pw ? pw : Math.round(x1), n = N[i], on = m.on(n, i);
        line.fill(on ? col[n] : dimmed[n], a, b);
        if (b - a > 3 && x1 <= pw) line[b - 1] = bg;
        if (b - a > 22 * p.dpr && on) labels.push(a / p.dpr, y, (b - a) / p.dpr, n);
        i++;
        continue;
      }
      const x = Math.max(0, Math.floor(x0)), edge = T0 + (x + 1) / k;
      let j = i + 1;
      if (j < hi && S[j] < edge) { // several in this pixel: gallop, then search
        let step = 1;
        while (j + step < hi && S[j + step] < edge) { j += step; step *= 2; }
        j = lower(S, edge, j, Math.min(hi, j + step + 1));
        if ((E[j - 1] - S[j - 1]) * k >= 1.5) j--; // the last may be a wide one
      }
      let best = i, hit = -1;
      const stride = Math.max(1, (j - i) >> 3);
      for (let s = i; s < j; s += stride) {
        if (E[s] - S[s] > E[best] - S[best]) best = s;
        if (hit < 0 && m.match && m.on(N[s], s)) hit = s;
      }
      if (m.pathOnly) { const g = m.path[lower(m.path, i, 0, m.path.length)]; if (g < j && m.on(N[g], g)) hit = g; }
      if (hit >= 0) best = hit;
      const n = N[best], on = m.on(n, best), full = C[j - 1] + E[j - 1] - S[j - 1] - C[i], cover = on ? clamp(full * k, .35, 1) : clamp(full * k, .2, 1), c = on ? col[n] : dimmed[n];
      if (x < pw) line[x] = (255 << 24 | b2 + ((c >> 16 & 255) - b2) * cover << 16 | b1 + ((c >> 8 & 255) - b1) * cover << 8 | b0 + ((c & 255) - b0) * cover) >>> 0;
      i = j;
    }
    return any;
  }

  p.paint = () => {
    raf = 0;
    if (!p.W || !th || !img) return;
    const t0 = performance.now(), d = p.dpr, rh = Math.round((ROW - 1) * d), labels = [], pw = line.length;
    buf.fill(col.bg);
    for (const v of p.vis) {
      const y = Math.round((p.y(v) - head) * d), top = v[3] ? 0 : Math.round(p.pinned * d);
      if (y + rh <= top || y >= img.height) continue;
      if (!fillRow(v[0], labels, p.y(v))) continue;
      for (let k = Math.max(top, y), b = Math.min(img.height, y + rh); k < b; k++) buf.set(line, k * pw);
    }
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = th.bg; ctx.fillRect(0, 0, cv.width, cv.height);
    ctx.putImageData(img, Math.round(GUTTER * d), Math.round(head * d));
    ctx.setTransform(d, 0, 0, d, 0, 0);
    ctx.font = FONT; ctx.textBaseline = 'middle'; ctx.textAlign = 'left';
    clipped(GUTTER, head, () => { marks(); text(labels); outline(); arrows(); });
    gutter(); map(); axis();
    p.work = performance.now() - t0;
  };
  p.draw = () => { if (!raf) raf = requestAnimationFrame(p.paint); };

  function clipped(x, y, fn) { ctx.save(); ctx.beginPath(); ctx.rect(x, y, p.W - x, p.H - y); ctx.clip(); fn(); ctx.restore(); }

  function text(labels) {
    ctx.fillStyle = th.dark ? '#f4f6f8' : '#14181d';
    for (let i = 0; i < labels.length; i += 4) {
      const y = labels[i + 1];
      if (y < head + p.pinned && !pinnedAt(y)) continue;
      ctx.fillText(fitText(ctx, m.shorts[labels[i + 3]], labels[i + 2] - 6), GUTTER + labels[i] + 3, y + ROW / 2);
    }
  }
  const pinnedAt = y => y >= head && y < head + p.pinned && p.vis.some(v => v[3] && p.y(v) === y);

  // Starts of steps: thin lines through all tracks; their names stand on the axis.
  function marks() {
    ctx.strokeStyle = th.acc; ctx.globalAlpha = .35; ctx.lineWidth = 1; ctx.setLineDash([4, 3]); ctx.beginPath();
    let last = -9;
    for (const s of m.doc.marks) { const x = Math.round(p.x(s[0])) + .5; if (x < GUTTER || x > p.W || x - last < 4) continue; last = x; ctx.moveTo(x, head); ctx.lineTo(x, p.H); }
    ctx.stroke(); ctx.setLineDash([]); ctx.globalAlpha = 1;
    if (!m.range) return;
    const [a, b] = m.range.map(p.x);
    ctx.fillStyle = th.acc; ctx.globalAlpha = .13; ctx.fillRect(Math.min(a, b), head, Math.abs(b - a), p.H); ctx.globalAlpha = 1;
  }

  // Where an event is drawn: its own row, or the first of its closed track. Undefined when its track is hidden.
  p.spot = g => {
    const r = m.rowOf(g), v = p.vis.find(v => v[0] === r) || p.vis.find(v => v[2] === m.row[r][0]);
    return v && [p.x(S[g]), p.y(v), p.x(E[g]), v];
  };
  function outline() {
    for (const [g, w] of [[m.hover, 1], [m.sel, 2]]) {
      const s = g >= 0 && p.spot(g);
      if (!s || !s[3][3] && s[1] < head + p.pinned - ROW) continue;
      ctx.strokeStyle = w > 1 ? th.acc : th.fg; ctx.lineWidth = w;
      ctx.strokeRect(s[0] - .5, s[1] - .5, Math.max(2, s[2] - s[0]), ROW);
    }
  }
  function arrows() {
    for (const f of m.flows.get(m.sel) || []) {
      const a = p.spot(D.F[f]), b = p.spot(D.F[f + 1]);
      if (!a || !b) continue;
      const x0 = a[0], y0 = a[1] + ROW / 2, x1 = b[0], y1 = b[1] + ROW / 2, bend = clamp(Math.abs(x1 - x0) / 2, 24, 160);
      ctx.strokeStyle = ctx.fillStyle = th.acc; ctx.lineWidth = 1.5;
      ctx.beginPath(); ctx.moveTo(x0, y0); ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1); ctx.stroke();
      ctx.beginPath(); ctx.moveTo(x1, y1); ctx.lineTo(x1 - 8, y1 - 4); ctx.lineTo(x1 - 8, y1 + 4); ctx.fill();
    }
  }

  function gutter() {
    ctx.fillStyle = th.band; ctx.fillRect(0, head, GUTTER - 1, p.H - head);
    clipped(0, head, () => {
      let last = -1;
      for (const v of [...p.vis].sort((a, b) => a[3] - b[3])) {
        if (v[2] === last) continue;
        last = v[2];
        const y = p.y(v), t = m.tracks[v[2]];
        if (y > p.H || y < head - 200) continue;
        if (v[3]) { ctx.fillStyle = th.chip; ctx.fillRect(0, y - GAP / 2, GUTTER - 1, (t.open ? t.rows : 1) * ROW + GAP); }
        ctx.fillStyle = th.dim;
        if (t.rows > 1) ctx.fillText(t.open ? '▾' : '▸', 5, y + ROW / 2);
        ctx.fillStyle = th.fg; ctx.fillText(fitText(ctx, (v[3] ? '★ ' : '') + t.name, GUTTER - 26), 18, y + ROW / 2);
        if (t.open && t.rows > 1 && t.proc) { ctx.fillStyle = th.dim; ctx.fillText(fitText(ctx, t.proc, GUTTER - 26), 18, y + ROW * 1.5); }
        ctx.fillStyle = th.line; ctx.fillRect(0, Math.round(y - GAP / 2) - .5, p.W, 1);
      }
    });
    if (p.pinned) { ctx.fillStyle = th.acc; ctx.fillRect(0, head + p.pinned - 1, p.W, 1); }
    ctx.fillStyle = th.line; ctx.fillRect(GUTTER - 1, 0, 1, p.H);
  }

  function map() {
    const w = p.W - GUTTER, hasDev = m.tracks.some(t => t.kind === 'device'), h = hasDev ? MAP / 2 : MAP;
    ctx.fillStyle = th.band; ctx.fillRect(0, 0, p.W, MAP);
    ctx.fillStyle = th.dim; ctx.textAlign = 'right';
    for (const [key, y, c] of [['host', 0, 'op'], ['device', MAP / 2, 'kernel']]) {
      if (key === 'device' && !hasDev) break;
      ctx.fillStyle = th.dim; ctx.fillText(key + ' busy', GUTTER - 8, y + h / 2);
      ctx.fillStyle = classColor(c, 3, th.dark);
      for (let x = 0; x < util[key].length; x++) { const v = util[key][x]; if (v > 0) { const bar = Math.max(1, v * (h - 2)); ctx.fillRect(GUTTER + x, y + h - bar, 1, bar); } }
    }
    ctx.textAlign = 'left';
    const a = GUTTER + m.show[0] / m.end * w, b = GUTTER + m.show[1] / m.end * w;
    ctx.fillStyle = th.fg; ctx.globalAlpha = .16; ctx.fillRect(GUTTER, 0, a - GUTTER, MAP); ctx.fillRect(b, 0, p.W - b, MAP); ctx.globalAlpha = 1;
    ctx.strokeStyle = th.acc; ctx.lineWidth = 1; ctx.strokeRect(clamp(a, GUTTER, p.W - 3) + .5, .5, Math.max(2, b - a - 1), MAP - 1);
  }

  function axis() {
    ctx.fillStyle = th.bg; ctx.fillRect(GUTTER, MAP, p.W - GUTTER, AXIS);
    ctx.fillStyle = th.line; ctx.fillRect(0, head - 1, p.W, 1);
    const [list, step] = timeTicks(m.show[0], m.show[1], p.W - GUTTER);
    clipped(GUTTER, MAP, () => {
      for (const t of list) {
        const x = p.x(t);
        ctx.fillStyle = th.line; ctx.fillRect(Math.round(x), MAP + 3, 1, AXIS - 4);
        const s = fmtTick(t, step);
        ctx.fillStyle = th.dim; if (x + 4 + s.length * 6.4 < p.W) ctx.fillText(s, x + 4, MAP + AXIS / 2);
      }
    });
    if (m.doc.marks.length) steps();
    if (m.cursor != null) { const x = p.x(m.cursor); ctx.fillStyle = th.dim; ctx.globalAlpha = .6; ctx.fillRect(Math.round(x), MAP, 1, p.H); ctx.globalAlpha = 1; }
  }

  // A band with one box per step.
  function steps() {
    const y = MAP + AXIS;
    ctx.fillStyle = th.bg; ctx.fillRect(GUTTER, y, p.W - GUTTER, STEPS - 1);
    ctx.fillStyle = th.band; ctx.fillRect(0, y, GUTTER - 1, STEPS - 1);
    ctx.fillStyle = th.dim; ctx.fillText('steps', 18, y + STEPS / 2);
    clipped(GUTTER, y, () => {
      let last = -1;
      for (const [t0, t1, name] of m.doc.marks) {
        const a = Math.max(GUTTER, p.x(t0)), b = Math.min(p.W, p.x(t1)), w = b - a;
        if (w <= 0 || b < last + 1) continue;
        last = b;
        ctx.fillStyle = th.chip; ctx.fillRect(a, y + 1, Math.max(1, w - 1), STEPS - 3);
        ctx.fillStyle = th.fg; ctx.fillText(fitText(ctx, name, w - 8), a + 4, y + STEPS / 2 - .5);
      }
    });
  }
  return p;
}
