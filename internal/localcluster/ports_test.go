// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"testing"
)

func TestChoosePorts(t *testing.T) {
	drawn := []int{20001, 20001, 20002, 20003}
	draw := func() int {
		port := drawn[0]
		drawn = drawn[1:]
		return port
	}
	free := func(port int) error {
		if port == 20002 {
			return errors.New("address already in use")
		}
		return nil
	}
	ports, err := choosePorts(2, draw, free)
	if want := []int{20001, 20003}; err != nil || !slices.Equal(ports, want) {
		t.Errorf("choosePorts = %v, %v, want %v", ports, err, want)
	}
}

func TestChoosePortsGivesUp(t *testing.T) {
	inUse := errors.New("address already in use")
	_, err := choosePorts(1, func() int { return 20001 }, func(int) error { return inUse })
	if !errors.Is(err, inUse) {
		t.Errorf("choosePorts = %v, want an error that wraps the last one", err)
	}
}

func TestFreePortsCanBeListenedOn(t *testing.T) {
	ports, err := FreePorts(portsOfCluster)
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range ports {
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
		if err != nil {
			t.Error(err)
			continue
		}
		if listenable(port) == nil {
			t.Errorf("port %d counts as free while it is in use", port)
		}
		_ = listener.Close()
	}
}
