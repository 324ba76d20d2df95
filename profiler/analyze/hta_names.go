package analyze

import "strings"

// kernelType classifies device work by name, as Holistic Trace Analysis does.
func kernelType(name string) KernelType {
	bare := strings.TrimPrefix(name, "hip")
	switch {
	case strings.HasPrefix(name, "nccl"), strings.Contains(name, "ncclKernel"), strings.HasPrefix(name, "hccl"):
		return TypeComm
	case strings.HasPrefix(bare, "Memcpy"), strings.HasPrefix(bare, "Memset"), strings.HasPrefix(name, "dma"):
		return TypeMemory
	case strings.Contains(name, "Sync"), strings.Contains(name, "Stream Wait Event"):
		return TypeOther
	}
	return TypeCompute
}
