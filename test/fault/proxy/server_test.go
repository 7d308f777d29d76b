// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	restclientwatch "k8s.io/client-go/rest/watch"

	"platformapp/test/fault/proxy"
)

// limit is how long a test waits for what has to happen.
const limit = 30 * time.Second

// server is an API server that knows ConfigMaps alone: whatever is written is answered with an empty one, and a watch
// delivers what the test sends.
type server struct {
	*httptest.Server
	t *testing.T

	mu    sync.Mutex
	seen  []string                             // method and path of each request
	open  map[chan watch.Event]<-chan struct{} // closed when the client has left
	slow  chan struct{}                        // when set, writes are answered after it is closed
	ended int                                  // watches whose client left
}

func newServer(t *testing.T) *server {
	s := &server{t: t, open: map[chan watch.Event]<-chan struct{}{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// ServeHTTP answers in the encoding that the client asks for.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.seen = append(s.seen, r.Method+" "+r.URL.Path)
	slow := s.slow
	s.mu.Unlock()
	mediaType, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	mediaType, _, _ = strings.Cut(mediaType, ";")
	info, known := runtime.SerializerInfoForMediaType(clientgoscheme.Codecs.SupportedMediaTypes(), mediaType)
	if !known {
		info = clientgoscheme.Codecs.SupportedMediaTypes()[0]
	}
	if r.URL.Query().Get("watch") == "true" {
		s.watch(w, r, info)
		return
	}
	if slow != nil && r.Method != http.MethodGet {
		<-slow
	}
	var object runtime.Object = configMap("answer")
	if r.Method == http.MethodGet {
		object = &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	}
	w.Header().Set("Content-Type", info.MediaType)
	encoder := clientgoscheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	if err := encoder.Encode(object, w); err != nil {
		s.t.Error(err)
	}
}

// watch delivers until the client leaves.
func (s *server) watch(w http.ResponseWriter, r *http.Request, info runtime.SerializerInfo) {
	events := make(chan watch.Event)
	s.mu.Lock()
	s.open[events] = r.Context().Done()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.open, events)
		s.ended++
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", info.MediaType+";stream=watch")
	controller := http.NewResponseController(w)
	_ = controller.Flush()
	stream := info.StreamSerializer
	encoder := restclientwatch.NewEncoder(streaming.NewEncoder(stream.NewFrameWriter(w), stream.Serializer),
		clientgoscheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion))
	for {
		select {
		case event := <-events:
			if err := encoder.Encode(&event); err != nil {
				return
			}
			_ = controller.Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// send delivers an event to all open watches.
func (s *server) send(kind watch.EventType, object *corev1.ConfigMap) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for events, left := range s.open {
		select {
		case events <- watch.Event{Type: kind, Object: object.DeepCopy()}:
		case <-left:
		case <-time.After(limit):
			s.t.Fatal("the API server does not send")
		}
	}
}

// requests returns what the API server was asked.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// watches tells how many watches are open, and how many have ended.
func (s *server) watches() (open, ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open), s.ended
}

// config tells how to reach the API server.
func (s *server) config() *rest.Config { return &rest.Config{Host: s.URL} }

// start starts a Proxy before the API server for the time of the test.
func (s *server) start(opts ...proxy.Option) *proxy.Proxy {
	s.t.Helper()
	p, err := proxy.Start(s.config(), opts...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(p.Close)
	return p
}

// encodings are those that clients ask for.
var encodings = map[string]string{"JSON": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf}

// newClient returns a client of the Proxy with this encoding.
func newClient(t *testing.T, p *proxy.Proxy, encoding string) kubernetes.Interface {
	t.Helper()
	config := p.Config()
	config.ContentType = encoding
	return newClientOf(t, config)
}

func newClientOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newHTTPClient(t *testing.T, p *proxy.Proxy) *http.Client {
	t.Helper()
	c, err := rest.HTTPClientFor(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// create creates a ConfigMap.
func create(t *testing.T, c kubernetes.Interface) error {
	t.Helper()
	_, err := c.CoreV1().ConfigMaps("team").Create(t.Context(), configMap("app"), metav1.CreateOptions{})
	return err
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "team"},
	}
}

// eventually waits until the condition is true.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in %s: %s", limit, what)
		}
	}
}

// within waits for the channel to be closed.
func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("not in %s: %s", limit, what)
	}
}
