package kineto

// argKey numbers the keys of "args" that have a place of their own in the model.
type argKey uint8

const (
	keyOther argKey = iota
	keyExternalID
	keyCorrelation
	keyEvIdx
	keyRecordFunc
	keyFinished
	// operators
	keyDims
	keyStrides
	keyTypes
	keyConcrete
	keyCallStack
	keyModuleHierarchy
	keySequence
	keyFwdThread
	keyFLOPs
	keyOpBytes
	// calls
	keyPythonID
	keyPythonParent
	keyPythonModule
	keyShapes
	// device work
	keyDevice
	keyContext
	keyStream
	keyQueued
	keyGraphID
	keyGraphNode
	keyGrid
	keyBlock
	keyRegisters
	keySharedMem
	keyBlocksPerSM
	keyWarpsPerSM
	keyOccupancy
	keyBytes
	keyBandwidth
	// synchronisation
	keySyncKind
	keyWaitStream
	keyWaitEvent
	keyWaitRecord
	// memory
	keyDeviceType
	keyDeviceID
	keyAddr
	keyMemBytes
	keyAllocated
	keyReserved
	// metadata events
	keyName
	keyLabels
	keySortIndex
	keyWeight // of samples
	numKeys
)

// keyNames holds the spelling in which the writer writes each key.
var keyNames = [numKeys]string{
	keyExternalID: "External id", keyCorrelation: "correlation", keyEvIdx: "Ev Idx", keyRecordFunc: "Record function id",
	keyFinished: "finished", keyDims: "Input Dims", keyStrides: "Input Strides", keyTypes: "Input type",
	keyConcrete: "Concrete Inputs", keyCallStack: "Call stack", keyModuleHierarchy: "Module Hierarchy",
	keySequence: "Sequence number", keyFwdThread: "Fwd thread id", keyFLOPs: "flops", keyOpBytes: "bytes moved",
	keyPythonID: "Python id", keyPythonParent: "Python parent id", keyPythonModule: "Python module id", keyShapes: "shapes",
	keyDevice: "device", keyContext: "context", keyStream: "stream", keyQueued: "queued", keyGraphID: "graph id",
	keyGraphNode: "graph node id", keyGrid: "grid", keyBlock: "block", keyRegisters: "registers per thread",
	keySharedMem: "shared memory", keyBlocksPerSM: "blocks per SM", keyWarpsPerSM: "warps per SM",
	keyOccupancy: "est. achieved occupancy %", keyBytes: "bytes", keyBandwidth: "memory bandwidth (GB/s)",
	keySyncKind: "cuda_sync_kind", keyWaitStream: "wait_on_stream", keyWaitEvent: "wait_on_cuda_event_id",
	keyWaitRecord: "wait_on_cuda_event_record_corr_id", keyDeviceType: "Device Type", keyDeviceID: "Device Id",
	keyAddr: "Addr", keyMemBytes: "Bytes", keyAllocated: "Total Allocated", keyReserved: "Total Reserved",
	keyName: "name", keyLabels: "labels", keySortIndex: "sort_index",
	keyWeight: "weight",
}

// argKeyOf recognises a key, in the spellings of 2020 too. Case matters: "bytes" is a copy's, "Bytes" an allocation's.
func argKeyOf(k []byte) argKey {
	switch string(k) {
	case "External id", "external id":
		return keyExternalID
	case "correlation":
		return keyCorrelation
	case "Ev Idx":
		return keyEvIdx
	case "Record function id":
		return keyRecordFunc
	case "finished":
		return keyFinished
	case "Input Dims", "Input dims":
		return keyDims
	case "Input Strides", "Input strides":
		return keyStrides
	case "Input type", "Input Type":
		return keyTypes
	case "Concrete Inputs":
		return keyConcrete
	case "Call stack", "Call Stack":
		return keyCallStack
	case "Module Hierarchy":
		return keyModuleHierarchy
	case "Sequence number":
		return keySequence
	case "Fwd thread id", "Forward thread id":
		return keyFwdThread
	case "flops":
		return keyFLOPs
	case "bytes moved":
		return keyOpBytes
	case "Python id":
		return keyPythonID
	case "Python parent id":
		return keyPythonParent
	case "Python module id":
		return keyPythonModule
	case "shapes":
		return keyShapes
	case "device":
		return keyDevice
	case "context":
		return keyContext
	case "stream":
		return keyStream
	case "queued":
		return keyQueued
	case "graph id":
		return keyGraphID
	case "graph node id":
		return keyGraphNode
	case "grid":
		return keyGrid
	case "block":
		return keyBlock
	case "registers per thread":
		return keyRegisters
	case "shared memory":
		return keySharedMem
	case "blocks per SM":
		return keyBlocksPerSM
	case "warps per SM":
		return keyWarpsPerSM
	case "est. achieved occupancy %":
		return keyOccupancy
	case "bytes":
		return keyBytes
	case "memory bandwidth (GB/s)":
		return keyBandwidth
	case "cuda_sync_kind":
		return keySyncKind
	case "wait_on_stream":
		return keyWaitStream
	case "wait_on_cuda_event_id":
		return keyWaitEvent
	case "wait_on_cuda_event_record_corr_id":
		return keyWaitRecord
	case "Device Type":
		return keyDeviceType
	case "Device Id":
		return keyDeviceID
	case "Addr":
		return keyAddr
	case "Bytes":
		return keyMemBytes
	case "Total Allocated":
		return keyAllocated
	case "Total Reserved":
		return keyReserved
	case "name":
		return keyName
	case "labels":
		return keyLabels
	case "sort_index":
		return keySortIndex
	case "weight":
		return keyWeight
	}
	return keyOther
}
