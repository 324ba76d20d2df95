package wire

import "time"

// Limits bound what a peer can make the kernel hold or wait for. Zero fields mean the defaults.
type Limits struct {
	Handshake time.Duration // for a peer to say who it is; 5 s
	Stall     time.Duration // for a peer to take any byte of what is being written to it; 5 min
	Drain     time.Duration // for all peers together to take what is left when a socket closes; 1 s

	Message  int // bytes of one message; 512 MiB
	Frames   int // frames of one message; 4096
	Pending  int // bytes of messages that have begun to arrive, over all peers of a socket; 1 GiB
	Queue    int // bytes waiting for one peer, after which it is dropped; 128 MiB
	Peers    int // connections of one socket; 512
	Greeting int // of those, how many may still be in their handshake; 64
}

func (l Limits) withDefaults() Limits {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	after := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	after(&l.Handshake, 5*time.Second)
	after(&l.Stall, 5*time.Minute)
	after(&l.Drain, time.Second)
	def(&l.Message, 512<<20)
	def(&l.Frames, 4096)
	def(&l.Pending, 1<<30)
	def(&l.Queue, 128<<20)
	def(&l.Peers, 512)
	def(&l.Greeting, 64)
	return l
}
