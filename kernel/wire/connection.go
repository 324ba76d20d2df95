package wire

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
)

// ConnectionInfo is a Jupyter connection file: where the kernel listens and how messages are signed.
type ConnectionInfo struct {
	Transport       string `json:"transport"` // "tcp" or "ipc"
	IP              string `json:"ip"`        // for ipc the prefix of the sockets' paths
	ShellPort       int    `json:"shell_port"`
	IOPubPort       int    `json:"iopub_port"`
	StdinPort       int    `json:"stdin_port"`
	ControlPort     int    `json:"control_port"`
	HBPort          int    `json:"hb_port"`
	SignatureScheme string `json:"signature_scheme"`
	Key             string `json:"key"`
	KernelName      string `json:"kernel_name,omitempty"`
}

// ParseConnectionFile reads the connection file at path and fills in defaults.
func ParseConnectionFile(path string) (ConnectionInfo, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return ConnectionInfo{}, fmt.Errorf("reading connection file: %w", err)
	}
	c, err := ParseConnection(b)
	if err != nil {
		return c, fmt.Errorf("reading connection file %q: %w", path, err)
	}
	return c, nil
}

// ParseConnection parses the JSON of a connection file.
func ParseConnection(b []byte) (ConnectionInfo, error) {
	c := ConnectionInfo{Transport: "tcp", IP: "127.0.0.1", SignatureScheme: "hmac-sha256"}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("parsing JSON: %w", err)
	}
	switch c.Transport {
	case "tcp", "ipc":
	default:
		return c, fmt.Errorf("transport %q is not supported (tcp and ipc are)", c.Transport)
	}
	if c.IP == "" {
		return c, fmt.Errorf("ip is empty")
	}
	for _, p := range []struct {
		name string
		port int
	}{
		{"shell_port", c.ShellPort}, {"iopub_port", c.IOPubPort}, {"stdin_port", c.StdinPort},
		{"control_port", c.ControlPort}, {"hb_port", c.HBPort},
	} {
		if p.port < 0 || p.port > 65535 {
			return c, fmt.Errorf("%s %d is out of range", p.name, p.port)
		}
	}
	if _, err := NewSigner(c.SignatureScheme, c.Key); err != nil {
		return c, err
	}
	return c, nil
}

// Endpoint returns the network and address, as package net knows them, of the socket with the given port.
func (c ConnectionInfo) Endpoint(port int) (network, address string) {
	if c.Transport == "ipc" {
		return "unix", c.IP + "-" + strconv.Itoa(port)
	}
	ip := c.IP
	if ip == "*" {
		ip = "0.0.0.0"
	}
	return "tcp", net.JoinHostPort(ip, strconv.Itoa(port))
}
