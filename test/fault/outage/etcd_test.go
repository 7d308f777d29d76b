// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package outage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"platformapp/internal/localcluster"
)

// etcdPlans let the API server's store hang, run full, and be killed while the operator writes.
func etcdPlans() [][]plan {
	hanging, full := 10*time.Second, 10*time.Second
	if isFull {
		hanging, full = 40*time.Second, time.Minute
	}
	return [][]plan{
		{
			{class: "etcd hangs", name: "outage/etcd-paused", kinds: bothKinds, alone: true, run: func(s *scene) {
				s.endure(ordeal{strike: func(s *scene, fleet []member) time.Time {
					s.changeBefore(fleet)
					s.must(s.cluster.PauseComponent(localcluster.Etcd))
					time.Sleep(hanging)
					s.must(s.cluster.ResumeComponent(localcluster.Etcd))
					return s.ready()
				}})
			}},
			{class: "etcd without space", name: "outage/etcd-no-space", kinds: bothKinds, alone: true, run: func(s *scene) {
				s.endure(ordeal{strike: func(s *scene, fleet []member) time.Time {
					s.changeBefore(fleet)
					s.alarm("ACTIVATE")
					time.Sleep(full)
					s.alarm("DEACTIVATE")
					return s.ready()
				}})
			}},
		},
		killedWhileWriting("etcd killed mid-write", "etcd-killed", localcluster.Etcd),
	}
}

// alarm raises or clears etcd's alarm that its space is used up, with which it refuses all writes.
func (s *scene) alarm(action string) {
	s.Helper()
	var status struct {
		Header struct {
			MemberID string `json:"member_id"`
		} `json:"header"`
	}
	s.must(s.askEtcd("/v3/maintenance/status", map[string]any{}, &status))
	s.must(s.askEtcd("/v3/maintenance/alarm", map[string]any{"action": action, "memberID": status.Header.MemberID, "alarm": "NOSPACE"}, nil))
}

// askEtcd makes a request by etcd's JSON gateway.
func (s *scene) askEtcd(path string, question, answer any) error {
	args, err := s.cluster.ComponentArgs(localcluster.Etcd)
	if err != nil {
		return err
	}
	var server string
	for _, arg := range args {
		if value, found := strings.CutPrefix(arg, "--listen-client-urls="); found {
			server = value
		}
	}
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, server+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answers %s %s", path, response.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
