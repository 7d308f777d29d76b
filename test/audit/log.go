// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// awaitTimeout bounds the way of a request into the log, on a machine that does much else.
	awaitTimeout = time.Minute
	pollInterval = 50 * time.Millisecond
)

// event is the part of an event of the audit log that is read.
type event struct {
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef *struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Received metav1.MicroTime `json:"requestReceivedTimestamp"`
}

// Read returns the requests of a user, or of everybody when user is empty, out of the log at path, in its order, which is
// that of the answers. Requests that name no resource, such as discovery, are left out. A watch is there once, when it
// starts, or is refused. It fails when the log cannot be read.
func Read(path, user string) ([]Request, error) {
	log, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	quoted := []byte(strconv.Quote(user))
	var requests []Request
	for reader := bufio.NewReader(log); ; {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			// What stands after the last end of a line is still being written.
			return requests, nil
		}
		if err != nil {
			return nil, err
		}
		if user != "" && !bytes.Contains(line, quoted) {
			continue
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read the audit log: %w\n%s", err, line)
		}
		if r, ok := e.request(); ok && (user == "" || r.User == user) {
			requests = append(requests, r)
		}
	}
}

func (e event) request() (Request, bool) {
	ref := e.ObjectRef
	// A watch is told when it starts; when it ends is of no interest. One that is refused never starts.
	ofStartedWatch := e.Verb == "watch" && e.Stage == "ResponseComplete" && e.ResponseStatus.Code == http.StatusOK
	if ref == nil || ofStartedWatch {
		return Request{}, false
	}
	resource := ref.Resource
	if ref.Subresource != "" {
		resource += "/" + ref.Subresource
	}
	return Request{
		User: e.User.Username, Verb: e.Verb, Resource: Qualified(ref.APIGroup, resource), Namespace: ref.Namespace, Name: ref.Name,
		URI: e.RequestURI, Code: e.ResponseStatus.Code, At: e.Received.Time,
	}, true
}

// Await returns when all requests that were answered before are in the log at path: when one more is, which it makes. It
// fails when that is not so within a minute, and when ctx ends.
func Await(ctx context.Context, path string, clientset kubernetes.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, awaitTimeout)
	defer cancel()
	// What is in the log by now is not looked at again.
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	mark := fmt.Sprintf("audit-mark-%d", time.Now().UnixNano())
	_, err = clientset.CoreV1().ConfigMaps(metav1.NamespaceDefault).Get(ctx, mark, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("get %s, which marks a place in the audit log: %w", mark, err)
	}
	for {
		found, err := contains(path, info.Size(), mark)
		if err != nil || found {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("a request is not in the audit log: %w", ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

// contains tells whether a file holds the words after its first bytes.
func contains(path string, skip int64, words string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(skip, io.SeekStart); err != nil {
		return false, err
	}
	content, err := io.ReadAll(file)
	return bytes.Contains(content, []byte(words)), err
}
