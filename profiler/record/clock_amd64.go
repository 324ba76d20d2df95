package record

const hasTSC = true

// readTSC reads the time stamp counter without fencing: a reading may be off by the few instructions around it.
func readTSC() int64
