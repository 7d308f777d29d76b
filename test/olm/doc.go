// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

// Package olm tests the bundle as OLM installs it. Its tests are all that it holds.
//
// [TestRightsOfTheBundle] needs nothing but the local control plane (internal/localcluster): it gives an operator
// exactly the rights of the bundle's ClusterServiceVersion, as OLM gives them in each install mode.
//
// The tests whose names begin with TestOLM need OLM itself and are skipped without it. There are two ways to give it:
//
//   - OLM_BIN names a folder with OLM's own programs olm and catalog, and its CustomResourceDefinitions in crds/. They
//     run against the local control plane, whose pods KWOK plays; for each pod of the operator that OLM has made the
//     test runs the real operator as a process, with the pod's arguments, environment, mounted Secrets and
//     ServiceAccount. What the operator asks of the API server is known from the audit log. The catalogs are served by
//     bin/opm, the webhook at port 443 of its Service's ClusterIP, an address of this machine: it takes root, or a
//     lower net.ipv4.ip_unprivileged_port_start.
//   - OLM_CATALOG and OLM_CATALOG_NEXT name two catalogs, of this version and of this one and the next, each an image
//     or the address host:port of a catalog server. KUBECONFIG then names a cluster in which OLM and real nodes run.
//     The tests leave the CustomResourceDefinitions there, as OLM does.
package olm
