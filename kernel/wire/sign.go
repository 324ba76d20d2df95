package wire

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"sync"
)

// schemes are the hashes a connection file may name, as Python's hashlib spells them.
var schemes = map[string]func() hash.Hash{
	"hmac-md5":      md5.New,
	"hmac-sha1":     sha1.New,
	"hmac-sha224":   sha256.New224,
	"hmac-sha256":   sha256.New,
	"hmac-sha384":   sha512.New384,
	"hmac-sha512":   sha512.New,
	"hmac-sha3_224": func() hash.Hash { return sha3.New224() },
	"hmac-sha3_256": func() hash.Hash { return sha3.New256() },
	"hmac-sha3_384": func() hash.Hash { return sha3.New384() },
	"hmac-sha3_512": func() hash.Hash { return sha3.New512() },
}

// Signer signs and verifies the four dictionaries of a message. It is safe for concurrent use.
type Signer struct {
	pool *sync.Pool // of hash.Hash keyed with the key; nil when messages are not signed
}

// NewSigner makes a signer for a scheme such as "hmac-sha256". With an empty key nothing is signed or checked.
func NewSigner(scheme, key string) (*Signer, error) {
	if scheme == "" {
		scheme = "hmac-sha256"
	}
	h, ok := schemes[strings.ToLower(scheme)]
	if !ok {
		return nil, fmt.Errorf("signature scheme %q is not supported (hmac-sha256, hmac-sha512, hmac-md5 and other SHA-2 and SHA-3 ones are)", scheme)
	}
	if key == "" {
		return &Signer{}, nil
	}
	k := []byte(key)
	return &Signer{pool: &sync.Pool{New: func() any { return hmac.New(h, k) }}}, nil
}

// Enabled reports whether messages are signed at all.
func (s *Signer) Enabled() bool { return s.pool != nil }

// mac appends the raw digest of parts to dst.
func (s *Signer) mac(dst []byte, parts [][]byte) []byte {
	h := s.pool.Get().(hash.Hash)
	h.Reset()
	for _, p := range parts {
		h.Write(p)
	}
	dst = h.Sum(dst)
	s.pool.Put(h)
	return dst
}

// Sign returns the lower-case hexadecimal signature of the parts as they will be sent, empty when signing is off.
func (s *Signer) Sign(parts ...[]byte) []byte {
	if s.pool == nil {
		return []byte{}
	}
	var raw [64]byte
	m := s.mac(raw[:0], parts)
	out := make([]byte, hex.EncodedLen(len(m)))
	hex.Encode(out, m)
	return out
}

// Verify reports whether signature is right for parts, in time that does not depend on where it differs. The
// returned digest names the message in a replay history; it is zero when signing is off.
func (s *Signer) Verify(signature []byte, parts ...[]byte) (digest [16]byte, ok bool) {
	if s.pool == nil {
		return digest, true
	}
	var raw, got [64]byte
	want := s.mac(raw[:0], parts)
	if len(signature) != hex.EncodedLen(len(want)) {
		return digest, false
	}
	if _, err := hex.Decode(got[:], signature); err != nil {
		return digest, false
	}
	copy(digest[:], want)
	return digest, hmac.Equal(want, got[:len(want)])
}
