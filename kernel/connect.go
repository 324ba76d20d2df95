package kernel

import "context"

// connect answers a connect_request, which is deprecated, with the ports of the sockets.
func (k *Kernel) connect(context.Context, *request) any {
	return map[string]any{
		"status":     "ok",
		"shell_port": k.conn.ShellPort, "iopub_port": k.conn.IOPubPort, "stdin_port": k.conn.StdinPort,
		"control_port": k.conn.ControlPort, "hb_port": k.conn.HBPort,
	}
}
