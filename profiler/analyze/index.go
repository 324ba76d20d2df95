package analyze

// index is what the views share.
type index struct{}
