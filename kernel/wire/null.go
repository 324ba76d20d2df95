package wire

import (
	"fmt"
	"io"

	"github.com/go-zeromq/zmq4"
)

// nullSecurity is ZMTP's NULL mechanism: Jupyter signs messages instead. zmq4 has it too, but only inside its sockets.
type nullSecurity struct{}

func (nullSecurity) Type() zmq4.SecurityType { return zmq4.NullSecurity }

// Handshake exchanges READY commands with the metadata of both sides.
func (nullSecurity) Handshake(conn *zmq4.Conn, server bool) error {
	meta, err := conn.Meta.MarshalZMTP()
	if err != nil {
		return fmt.Errorf("marshalling metadata: %w", err)
	}
	if err := conn.SendCmd(zmq4.CmdReady, meta); err != nil {
		return fmt.Errorf("sending READY: %w", err)
	}
	cmd, err := conn.RecvCmd()
	if err != nil {
		return fmt.Errorf("receiving READY: %w", err)
	}
	if cmd.Name != zmq4.CmdReady {
		return fmt.Errorf("receiving READY: got command %q", cmd.Name)
	}
	return conn.Peer.Meta.UnmarshalZMTP(cmd.Body)
}

func (nullSecurity) Encrypt(w io.Writer, data []byte) (int, error) { return w.Write(data) }
func (nullSecurity) Decrypt(w io.Writer, data []byte) (int, error) { return w.Write(data) }
