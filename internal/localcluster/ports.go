// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports are taken from below the ranges that Linux (32768 up) and macOS (49152 up) give to outgoing
// connections, so that none of those takes a port between its choice and its use.
const firstPort, endPort = 20000, 30000

// maxPortTries bounds the search on a machine whose ports are all in use or forbidden.
const maxPortTries = 1000

// FreePorts returns n different TCP ports of 127.0.0.1 on which nothing listens. They are chosen at random:
// two processes that choose at the same time rarely meet, but may, so who binds one has to expect
// "address already in use". It fails when too few ports are free.
func FreePorts(n int) ([]int, error) {
	return choosePorts(n, func() int { return firstPort + rand.IntN(endPort-firstPort) }, listenable)
}

// choosePorts draws until it has n different ports that are free.
func choosePorts(n int, draw func() int, free func(port int) error) ([]int, error) {
	var ports []int
	taken := map[int]bool{}
	var last error
	for range maxPortTries {
		if len(ports) == n {
			return ports, nil
		}
		port := draw()
		if taken[port] {
			continue
		}
		taken[port] = true
		if err := free(port); err != nil {
			last = err
			continue
		}
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("find %d free ports: %w", n, errors.Join(errors.New("too many are in use"), last))
}

// listenable reports why port cannot be listened on.
func listenable(port int) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return listener.Close()
}
