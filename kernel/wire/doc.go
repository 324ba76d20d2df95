// Package wire is the kernel's side of Jupyter's wire protocol: connection files, signed messages as frames, and the server
// ends of the ROUTER and XPUB sockets that carry them. It does not know what any message means. Its invariant: no
// peer, whatever it sends or fails to read, can crash the process, delay another peer, or make it hold more than Limits
// allows.
//
// The layers, from the network upwards:
//
//	server     accepts, bounds and drains connections; one per socket             server.go
//	guard      a net.Conn that lets only whole, bounded frames through            guard.go
//	zmq4.Conn  github.com/go-zeromq/zmq4: ZMTP handshake, framing, multipart
//	Peer       one connection with its own bounded queue and writer               peer.go
//	Router     answers go to the connection the request came on                   router.go
//	Publisher  subscriptions, each welcomed before anything else reaches it       publisher.go
//	Codec      messages to signed frames and back                                 message.go
//
// zmq4 carries the protocol on each connection (zmq4.Open and zmq4.Conn), but its socket types are not used. In
// v0.17.0 they shake hands inside the accept loop without a deadline, so one silent peer locks out all that follow; they
// write to all peers of a socket under one lock, so one peer that stops reading stops everybody; the queue of
// a PUB or XPUB socket has no bound and no way to wait for it; an XPUB never shows its subscriptions; and two connections
// of one identity both get every reply. A transport registered below those sockets could cure the first of these
// but not the others. On a connection it is sound, apart from trusting lengths and metadata that the peer sends: the
// guard checks the former, and a handshake that panics costs its connection only.
package wire
