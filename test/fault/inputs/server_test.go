// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package inputs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// server is the API server as a person reaches it who writes what he likes: requests are sent as they are, and read
// strictly.
type server struct {
	host   string
	client *http.Client
}

func newServer(config *rest.Config) (*server, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return &server{host: strings.TrimSuffix(config.Host, "/"), client: client}, nil
}

// answer is what the API server says to a write: a code below 300, or the words of a refusal.
type answer struct {
	code    int
	message string
	// generation of the application that was written.
	generation int64
}

func (a answer) isRefusal() bool {
	refusals := []int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge}
	return slices.Contains(refusals, a.code)
}

func (a answer) isAccepted() bool { return a.code < http.StatusMultipleChoices }

// create makes an application. An error means that there was no answer.
func (s *server) create(ctx context.Context, kind Kind, namespace string, body []byte) (answer, error) {
	return s.send(ctx, http.MethodPost, s.url(kind, namespace, ""), "application/json", body)
}

// edit changes an application by a JSON patch.
func (s *server) edit(ctx context.Context, kind Kind, namespace, name string, patch []byte) (answer, error) {
	return s.send(ctx, http.MethodPatch, s.url(kind, namespace, name), "application/json-patch+json", patch)
}

func (s *server) url(kind Kind, namespace, name string) string {
	url := fmt.Sprintf("%s/apis/%s/%s/namespaces/%s/%s", s.host, kind.Group, kind.Version, namespace, kind.Resource)
	if name != "" {
		url += "/" + name
	}
	return url + "?fieldValidation=Strict"
}

func (s *server) send(ctx context.Context, method, url, contentType string, body []byte) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := s.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{code: response.StatusCode}
	if a.isAccepted() {
		written := metav1.PartialObjectMetadata{}
		err := json.Unmarshal(content, &written)
		a.generation = written.Generation
		return a, err
	}
	a.message = string(content)
	if status := (metav1.Status{}); json.Unmarshal(content, &status) == nil && status.Message != "" {
		a.message = status.Message
	}
	return a, nil
}
