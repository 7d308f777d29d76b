// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package proxy is a fault proxy: an HTTP server on the loopback interface between one operator process and the API
// server, that tells which requests the operator makes and breaks those that a test asks it to break.
//
//	operator --http or https--> Proxy --upstream transport of a rest.Config--> API server
//
// The operator is given a kubeconfig of [Proxy.Config], which carries no credentials; what it asks for is asked with the
// identity of the upstream rest.Config. Everything is streamed; a body is kept in memory only where a fault needs it.
//
// Requests are told by [Proxy.Requests]. [Proxy.Inject] breaks single requests: answers an error in place of the API
// server, resets the connection before or after the request was carried out, holds it, or runs a function of the test
// at that moment, for example to kill the operator. Watches are kept back, cut, delayed and repeated frame by frame
// ([Proxy.FreezeWatches], [Proxy.CutWatches], [Proxy.DelayWatches], [Proxy.DuplicateWatches]), in JSON and in protobuf.
// [Proxy.SetUpstream] moves reads and writes to other API servers, [Proxy.Refuse] shuts the door as a server that is down.
package proxy
