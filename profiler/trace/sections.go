package trace

// The file form of a trace:
//
//	magic    8 bytes "gndrtrc" and version
//	section  until the end section:
//	    kind    1 byte
//	    length  uvarint, of the payload
//	    payload
//	end      kind 0, length 4, payload: CRC-32 (IEEE) of everything before its kind, little-endian
//
// A payload of a table is a number of rows and the rows; a long table is several sections, so that neither side ever
// holds more than one block of it in encoded form. Rows are coded by the functions of rows.go. A reader skips kinds it
// does not know and says so in Problems.
const (
	magic   = "gndrtrc"
	version = 1
)

// blockRows is the number of rows of one section.
const blockRows = 1 << 15

// maxSection bounds one section's payload. Attachments and counters are the only tables whose rows have no bound.
const maxSection = 1 << 30

// Kinds of sections. They are part of the file form.
const (
	kindEnd = iota
	kindMeta
	kindStrings
	kindCategories
	kindProcesses
	kindTracks
	kindSlices
	kindInstants
	kindFlows
	kindCounters
	kindMemory
	kindStacks
	kindFrames
	kindSamples
	kindOps
	kindCalls
	kindKernels
	kindCopies
	kindSyncs
	kindGenerics
	kindDevices
	kindProblems
	kindAttachments
	numKinds
)

// section codes the rows from and up to of the table of that kind. When decoding, both are ignored: rows are appended.
func (t *Trace) section(kind byte, w *wire, from, to int) {
	switch kind {
	case kindMeta:
		w.meta(&t.Meta)
	case kindStrings:
		list := t.Strings.List()
		rows(w, &list, from, to, func(s, _ *string) { w.str(s) })
		if w.decoding {
			t.Strings.SetList(list)
		}
	case kindCategories:
		rows(w, &t.Categories, from, to, w.category)
	case kindProcesses:
		rows(w, &t.Processes, from, to, w.process)
	case kindTracks:
		rows(w, &t.Tracks, from, to, w.track)
	case kindSlices:
		rows(w, &t.Slices, from, to, w.slice)
	case kindInstants:
		rows(w, &t.Instants, from, to, w.instant)
	case kindFlows:
		rows(w, &t.Flows, from, to, w.flow)
	case kindCounters:
		rows(w, &t.Counters, from, to, w.counter)
	case kindMemory:
		rows(w, &t.Memory, from, to, w.memory)
	case kindStacks:
		rows(w, &t.Stacks, from, to, w.stack)
	case kindFrames:
		rows(w, &t.Frames, from, to, w.frame)
	case kindSamples:
		rows(w, &t.Samples, from, to, w.sample)
	case kindOps:
		rows(w, &t.Ops, from, to, w.op)
	case kindCalls:
		rows(w, &t.Calls, from, to, w.call)
	case kindKernels:
		rows(w, &t.Kernels, from, to, w.kernel)
	case kindCopies:
		rows(w, &t.Copies, from, to, w.copy)
	case kindSyncs:
		rows(w, &t.Syncs, from, to, w.sync)
	case kindGenerics:
		rows(w, &t.Generics, from, to, w.generic)
	case kindDevices:
		rows(w, &t.Devices, from, to, w.device)
	case kindProblems:
		rows(w, &t.Problems, from, to, w.problem)
	case kindAttachments:
		rows(w, &t.Attachments, from, to, w.attachment)
	}
}

// rowsOf is the number of rows of the table of that kind, 1 for what is no table.
func (t *Trace) rowsOf(kind byte) int {
	return [numKinds]int{
		kindMeta: 1, kindStrings: len(t.Strings.List()), kindCategories: len(t.Categories), kindProcesses: len(t.Processes),
		kindTracks: len(t.Tracks), kindSlices: len(t.Slices), kindInstants: len(t.Instants), kindFlows: len(t.Flows),
		kindCounters: len(t.Counters), kindMemory: len(t.Memory), kindStacks: len(t.Stacks), kindFrames: len(t.Frames),
		kindSamples: len(t.Samples), kindOps: len(t.Ops), kindCalls: len(t.Calls), kindKernels: len(t.Kernels),
		kindCopies: len(t.Copies), kindSyncs: len(t.Syncs), kindGenerics: len(t.Generics), kindDevices: len(t.Devices),
		kindProblems: len(t.Problems), kindAttachments: len(t.Attachments),
	}[kind]
}

// rows codes a block of a table: the rows from and up to when encoding, appended ones when decoding. Differences start
// anew in each block.
func rows[T any](w *wire, list *[]T, from, to int, row func(v, prev *T)) {
	n := w.length(to - from)
	if w.decoding {
		from = len(*list)
	}
	var zero T
	prev := &zero
	for i := from; i < from+n && w.err == nil; i++ {
		if w.decoding {
			*list = append(*list, zero)
		}
		v := &(*list)[i]
		row(v, prev)
		prev = v // stays as it is when append moves the list
	}
}
