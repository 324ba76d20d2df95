package analyze

import (
	"encoding/json"
	"math"
)

// Means and deviations of times are float64 in the package and whole nanoseconds in JSON, as all times there.

func wholeNS(v float64) int64 { return int64(math.Round(v)) }

// MarshalJSON writes all times as integers.
func (a Average) MarshalJSON() ([]byte, error) {
	type plain Average
	return json.Marshal(struct {
		plain
		StdDev int64 `json:"stddev"`
	}{plain(a), wholeNS(a.StdDev)})
}

// MarshalJSON writes all times as integers.
func (r StepReport) MarshalJSON() ([]byte, error) {
	type plain StepReport
	return json.Marshal(struct {
		plain
		Mean int64 `json:"mean"`
	}{plain(r), wholeNS(r.Mean)})
}

// MarshalJSON writes all times as integers.
func (n NamedTime) MarshalJSON() ([]byte, error) {
	type plain NamedTime
	return json.Marshal(struct {
		plain
		Mean   int64 `json:"mean"`
		StdDev int64 `json:"stddev"`
	}{plain(n), wholeNS(n.Mean), wholeNS(n.StdDev)})
}

// MarshalJSON writes all times as integers.
func (o OperatorLaunch) MarshalJSON() ([]byte, error) {
	type plain OperatorLaunch
	return json.Marshal(struct {
		plain
		ToLaunch int64 `json:"to_launch"`
		ToDevice int64 `json:"to_device"`
	}{plain(o), wholeNS(o.ToLaunch), wholeNS(o.ToDevice)})
}

// MarshalJSON writes all times as integers.
func (w Worker) MarshalJSON() ([]byte, error) {
	type plain Worker
	return json.Marshal(struct {
		plain
		Computation   int64 `json:"computation"`
		Overlap       int64 `json:"overlap"`
		Communication int64 `json:"communication"`
		Other         int64 `json:"other"`
		Synchronizing int64 `json:"synchronizing"`
		DataTransfer  int64 `json:"data_transfer"`
	}{plain(w), wholeNS(w.Computation), wholeNS(w.Overlap), wholeNS(w.Communication), wholeNS(w.Other), wholeNS(w.Synchronizing), wholeNS(w.DataTransfer)})
}

// MarshalJSON writes sizes as integers.
func (h HeapCurve) MarshalJSON() ([]byte, error) {
	values := make([]int64, len(h.Values))
	for i, v := range h.Values {
		values[i] = wholeNS(v)
	}
	return json.Marshal(struct {
		Name   string  `json:"name"`
		Times  []int64 `json:"times"`
		Values []int64 `json:"values"`
		Peak   int64   `json:"peak"`
	}{h.Name, h.Times, values, wholeNS(h.Peak)})
}

// MarshalJSON writes the parts by name, in whole nanoseconds.
func (p PartMeans) MarshalJSON() ([]byte, error) {
	var whole PartTimes
	for i, v := range p {
		whole[i] = wholeNS(v)
	}
	return whole.MarshalJSON()
}
