// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"mime"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	restclientwatch "k8s.io/client-go/rest/watch"
)

// maxFrame is the longest frame that is read, in bytes: more than an API server stores of an object.
const maxFrame = 16 << 20

// frame is one event of a watch as it came from the API server, with whatever delimits it.
type frame []byte

// isKind tells whether the event is of this type, which stands at the begin of the frame in every encoding.
func (f frame) isKind(kind watch.EventType) bool {
	return bytes.Contains(f[:min(len(f), 64)], []byte(kind))
}

// endsInitial tells whether this is the bookmark after the last initial event. Its annotation is a string in the clear in
// every encoding.
func (f frame) endsInitial() bool {
	return f.isKind(watch.Bookmark) && bytes.Contains(f, []byte(metav1.InitialEventsAnnotationKey))
}

// framing is how the events of a watch are delimited and encoded.
type framing struct {
	next func(*bufio.Reader) (frame, error)
	info runtime.SerializerInfo
}

// framingOf returns the framing of a watch with this content type. It fails for one that it does not know.
func framingOf(contentType string) (framing, error) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return framing{}, fmt.Errorf("read a watch of %q: %w", contentType, err)
	}
	info, known := runtime.SerializerInfoForMediaType(clientgoscheme.Codecs.SupportedMediaTypes(), mediaType)
	switch {
	case known && mediaType == runtime.ContentTypeJSON:
		return framing{nextLine, info}, nil
	case known && mediaType == runtime.ContentTypeProtobuf:
		return framing{nextPrefixed, info}, nil
	default:
		return framing{}, fmt.Errorf("read a watch of %q: only JSON and protobuf are known", contentType)
	}
}

// nextLine reads a frame of JSON: the API server writes each event into a line of its own.
func nextLine(r *bufio.Reader) (frame, error) {
	line, err := r.ReadBytes('\n')
	if err == io.EOF && len(line) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return line, err
}

// nextPrefixed reads a frame of protobuf: four bytes of length, the most significant first, and the event.
func nextPrefixed(r *bufio.Reader) (frame, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(prefix[:])
	if length > maxFrame {
		return nil, fmt.Errorf("an event of a watch has %d bytes", length)
	}
	event := make([]byte, len(prefix)+int(length))
	copy(event, prefix[:])
	if _, err := io.ReadFull(r, event[len(prefix):]); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return event, nil
}

// expired returns the frame by which an API server ends a watch whose resource version it no longer has: 410 Gone.
func (f framing) expired() (frame, error) {
	status := &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
		Message: "too old resource version: the watch was closed by the fault proxy",
	}
	var buffer bytes.Buffer
	stream := f.info.StreamSerializer
	encoder := streaming.NewEncoder(stream.NewFrameWriter(&buffer), stream.Serializer)
	embedded := clientgoscheme.Codecs.EncoderForVersion(f.info.Serializer, metav1.SchemeGroupVersion)
	err := restclientwatch.NewEncoder(encoder, embedded).Encode(&watch.Event{Type: watch.Error, Object: status})
	return buffer.Bytes(), err
}

// encodeStatus encodes a Status as the API server does for this request, and tells the content type. What accepts no Status
// in any encoding, as discovery does, is answered in JSON.
func encodeStatus(r *http.Request, status *metav1.Status) (string, []byte, error) {
	_, info, err := negotiation.NegotiateOutputMediaType(r, clientgoscheme.Codecs, negotiation.DefaultEndpointRestrictions)
	if err != nil {
		info, _ = runtime.SerializerInfoForMediaType(clientgoscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	}
	body, err := runtime.Encode(clientgoscheme.Codecs.EncoderForVersion(info.Serializer, metav1.SchemeGroupVersion), status)
	return info.MediaType, body, err
}
