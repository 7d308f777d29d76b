// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// errCut ends a watch as a connection that breaks.
var errCut = errors.New("the watch is cut")

// stream is one open watch: the body of its answer, that the client reads frame by frame as the rules allow. What comes
// from the API server is read at once and kept, however slow the client is.
type stream struct {
	request    Request
	connection net.Conn
	gone       <-chan struct{} // the client is
	framing    framing
	watches    *watches
	upstream   io.ReadCloser

	// Of the reader: what is left of the frame that is delivered, and how often it is still to be delivered whole.
	rest   []byte
	whole  frame
	copies int

	mu     sync.Mutex // guards what follows
	kept   []arrival
	ended  error // after the last kept frame
	synced bool  // the initial events were delivered, or there are none
	closed bool

	wake chan struct{} // something changed; never closed
}

// arrival is a frame and when it came.
type arrival struct {
	frame frame
	at    time.Time
}

// receive keeps what the API server sends until it ends the watch or the stream is closed.
func (s *stream) receive() {
	reader := bufio.NewReader(s.upstream)
	for {
		frame, err := s.framing.next(reader)
		s.mu.Lock()
		switch {
		case s.ended != nil || s.closed:
			s.mu.Unlock()
			return
		case err != nil:
			s.ended = err
		default:
			s.kept = append(s.kept, arrival{frame, time.Now()})
		}
		s.mu.Unlock()
		s.notify()
		if err != nil {
			return
		}
	}
}

// notify wakes the reader up.
func (s *stream) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// end discards what is kept and ends the watch with a last frame, which may be empty, and an error.
func (s *stream) end(last frame, err error) {
	s.mu.Lock()
	s.kept = nil
	if len(last) > 0 {
		s.kept = []arrival{{frame: last}}
	}
	s.ended = err
	s.mu.Unlock()
	s.notify()
}

// expire discards what is kept and ends the watch with 410 Gone.
func (s *stream) expire() {
	last, err := s.framing.expired()
	if err != nil { // a Status that cannot be encoded
		panic(err)
	}
	s.end(last, io.EOF)
}

// Read delivers from one frame, and waits for one that may be delivered.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.copies > 0 {
			s.copies--
			s.rest = s.whole
			break
		}
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next waits for the next frame that may be delivered, and takes it.
func (s *stream) next() error {
	for {
		taken, wait, err := s.take()
		if taken || err != nil {
			return err
		}
		var due <-chan time.Time
		if wait > 0 {
			due = time.After(wait)
		}
		select {
		case <-s.wake:
		case <-due:
		case <-s.gone:
			return context.Canceled
		}
	}
}

// take takes the next frame when it may be delivered. When it may be later, take tells in what time.
func (s *stream) take() (taken bool, wait time.Duration, err error) {
	s.watches.mu.RLock()
	defer s.watches.mu.RUnlock()
	effect := s.watches.effect(s.request)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return false, 0, http.ErrBodyReadAfterClose
	case errors.Is(s.ended, errCut):
		return false, 0, errCut
	case effect.holdsAll || effect.holds && s.synced:
		return false, 0, nil
	case len(s.kept) == 0:
		return false, 0, s.ended
	}
	first := s.kept[0]
	if wait := time.Until(first.at.Add(effect.delay)); wait > 0 {
		return false, wait, nil
	}
	s.kept = s.kept[1:]
	s.rest, s.whole = first.frame, first.frame
	if isEvent := !first.frame.isKind(watch.Bookmark) && !first.frame.isKind(watch.Error); isEvent {
		s.copies = max(effect.copies-1, 0)
		s.watches.count(s.request)
	}
	if !s.synced && first.frame.endsInitial() {
		s.synced = true
	}
	return true, 0, nil
}

// Close ends the watch at the API server.
func (s *stream) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.notify()
	s.watches.forget(s)
	return s.upstream.Close()
}
