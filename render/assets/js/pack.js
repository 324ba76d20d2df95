// Readers of the packed forms; pack.go has the layouts and the writers.

async function inflate(b64) {
  if (typeof DecompressionStream === 'undefined') throw new Error('this browser cannot unpack the data (no DecompressionStream)');
  b64 = b64.trim();
  let u;
  if (Uint8Array.fromBase64) u = Uint8Array.fromBase64(b64);
  else { const s = atob(b64); u = new Uint8Array(s.length); for (let i = 0; i < s.length; i++) u[i] = s.charCodeAt(i); }
  return new Uint8Array(await new Response(new Blob([u]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());
}
const inflateJSON = async b64 => JSON.parse(new TextDecoder().decode(await inflate(b64)));

function reader(u8, magic, version) {
  const view = new DataView(u8.buffer, u8.byteOffset, u8.byteLength);
  if (String.fromCharCode(u8[0], u8[1], u8[2]) !== magic || u8[3] !== version) throw new Error('packed data of an unknown form');
  let p = 4;
  const r = {
    u32: () => { p += 4; return view.getUint32(p - 4, true); },
    f64: () => { p += 8; return view.getFloat64(p - 8, true); },
    v: () => {
      let b = u8[p++];
      if (b < 128) return b;
      let x = b & 127, m = 128;
      do { b = u8[p++]; x += (b & 127) * m; m *= 128; } while (b > 127);
      return x;
    },
    z: () => { const x = r.v(); return x % 2 ? -(x + 1) / 2 : x / 2; },
  };
  return r;
}

// Events by row: S start, E end (ns), N name, A arguments; C[i] is the busy time of the row before event i.
function unpackTimeline(u8) {
  const r = reader(u8, 'GTL', 1), { v } = r, tick = r.u32(), rows = r.u32(), n = r.u32(), nf = r.u32();
  const off = new Uint32Array(rows + 1), S = new Float64Array(n), E = new Float64Array(n), C = new Float64Array(n), N = new Uint32Array(n), A = new Uint32Array(n);
  for (let i = 0; i < rows; i++) off[i + 1] = off[i] + v();
  for (let i = 0; i < n; i++) S[i] = v();
  for (let k = 0; k < rows; k++) {
    let t = 0, c = 0;
    for (let i = off[k]; i < off[k + 1]; i++) { const d = v() * tick; t += S[i] * tick; S[i] = t; C[i] = c; t += d; c += d; E[i] = t; }
  }
  for (let i = 0; i < n; i++) N[i] = v();
  for (let i = 0; i < n; i++) A[i] = v();
  const F = new Uint32Array(nf * 2);
  for (let f = 0, a = 0, b = 0; f < nf; f++) { F[2 * f] = a += v(); F[2 * f + 1] = b += r.z(); }
  let end = 0;
  for (let k = 0; k < rows; k++) if (off[k + 1] > off[k]) end = Math.max(end, E[off[k + 1] - 1]);
  return { tick, rows, n, off, S, E, C, N, A, F, end };
}

function unpackCurve(u8) {
  const r = reader(u8, 'GCV', 1), k = r.u32(), out = [];
  for (let s = 0; s < k; s++) {
    const n = r.u32(), scale = r.f64(), t = new Float64Array(n), y = new Float64Array(n);
    for (let i = 0, a = 0; i < n; i++) t[i] = a += r.v();
    for (let i = 0, a = 0; i < n; i++) y[i] = (a += r.z()) * scale;
    out.push({ t, y });
  }
  return out;
}
