package kineto

// events reads the elements of traceEvents, whose bracket lies before pos. It returns false when the input ended, or the
// memory limit was reached, before the array did.
func (d *reader) events() bool {
	if d.pipe != nil {
		return d.rest() // a second array: rare, so one goroutine will do
	}
	d.pipe = d.start(d.buf[d.pos:])
	d.buf, d.pos = d.buf[:0], 0
	for {
		u := d.pipe.next()
		if u == nil {
			d.eof = true
			return false
		}
		d.m.add(&u.out, u.own)
		switch u.why {
		case stopArray:
			d.pipe.idle.Store(true)
			d.buf, d.pos = append(d.buf[:0], u.text[u.at:]...), 0
			d.pipe.recycle(u)
			return !d.limit()
		case stopShort:
			d.buf, d.pos = append(d.buf[:0], u.text[u.at:]...), 0
			d.pipe.recycle(u)
			if ended, on := d.mend(); ended {
				return on
			}
		default:
			d.pipe.recycle(u)
		}
		if d.limit() {
			return false
		}
	}
}

// limit reports whether the memory limit has been reached.
func (d *reader) limit() bool {
	d.full = d.full || d.m.bytes() > d.opt.MaxModelBytes
	return d.full
}

// mend scans the rest of a unit that did not end between two elements, together with the units behind it, until one does.
// ended says that the array or the input ended meanwhile, and on then what events returns.
func (d *reader) mend() (ended, on bool) {
	for {
		more := d.fill()
		why := d.scan()
		switch {
		case why == stopArray:
			d.pipe.idle.Store(true)
			return true, !d.limit()
		case d.limit():
			return true, false
		case why == stopEnd && more:
			return false, true
		case why == stopEnd:
			return true, false
		case d.tired():
			return true, false
		case !more:
			// The element at pos never ends. Either the file does, or a quote is missing that makes the rest look like
			// one string: then other events follow.
			if p := resync(d.buf, d.pos+1); p >= 0 {
				d.m.lost[lostDamage]++
				d.m.events++
				d.pos = p
				continue
			}
			d.pos = len(d.buf)
			return true, false
		case len(d.buf)-d.pos > d.opt.MaxEventBytes:
			d.m.lost[lostOversized]++
			d.m.events++
			if !d.seek() {
				return true, false
			}
		}
	}
}

// maxWasted bounds how much text is looked at again for elements that never end, of which a malicious file could hold
// millions.
const maxWasted = 128 << 20

// tired reports whether so much text has been looked at again that reading on is no use.
func (d *reader) tired() bool {
	if len(d.buf)-d.pos <= d.opt.MaxEventBytes && !d.eof {
		return false // not long yet
	}
	if d.wasted += int64(len(d.buf) - d.pos); d.wasted <= maxWasted {
		return false
	}
	d.m.t.Problem("gave-up", 1, "Reading stopped because too many events never end; the file is badly damaged.", "")
	d.pos = len(d.buf)
	return true
}

// rest is events without the pipeline's workers.
func (d *reader) rest() bool {
	for {
		ended, on := d.mend()
		if ended {
			return on
		}
	}
}

// scan scans buf from pos with the reader's own scanner and moves pos to where it stopped.
func (d *reader) scan() stop {
	if d.own == nil {
		d.own = newScanner(&d.opt, d.classes)
	}
	d.own.begin(&d.batch)
	at, why := d.own.elements(d.buf, d.pos)
	d.own.end()
	d.m.add(&d.batch, &d.x)
	d.pos = at
	return why
}

// seek moves pos to the next event behind an element that is too long.
func (d *reader) seek() bool {
	const overlap = 64 // what the start of an event may need to be recognised
	d.pos++
	for {
		if p := resync(d.buf, d.pos); p >= 0 {
			d.pos = p
			return true
		}
		d.pos = max(d.pos, len(d.buf)-overlap)
		if !d.fill() {
			d.pos = len(d.buf)
			return false
		}
	}
}
