// SPDX-FileCopyrightText: The platformapp authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"errors"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig writes a kubeconfig that connects as config does: to a server by https or plain http, with a token, with a
// client certificate, or as nobody. It fails for what it cannot write: an exec plugin, an auth provider or a transport
// made in Go; and when the file cannot be written.
func Kubeconfig(path string, config *rest.Config) error {
	if config.ExecProvider != nil || config.AuthProvider != nil ||
		config.Transport != nil || config.WrapTransport != nil || config.Dial != nil {
		return errors.New("write a kubeconfig: the connection is made by a plugin or by Go code")
	}
	const name = "operator"
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   config.Host + config.APIPath,
		TLSServerName:            config.ServerName,
		InsecureSkipTLSVerify:    config.Insecure,
		CertificateAuthority:     config.CAFile,
		CertificateAuthorityData: config.CAData,
	}
	kubeconfig.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificate:     config.CertFile,
		ClientCertificateData: config.CertData,
		ClientKey:             config.KeyFile,
		ClientKeyData:         config.KeyData,
		Token:                 config.BearerToken,
		TokenFile:             config.BearerTokenFile,
		Username:              config.Username,
		Password:              config.Password,
		Impersonate:           config.Impersonate.UserName,
		ImpersonateUID:        config.Impersonate.UID,
		ImpersonateGroups:     config.Impersonate.Groups,
		ImpersonateUserExtra:  config.Impersonate.Extra,
	}
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	kubeconfig.CurrentContext = name
	return clientcmd.WriteToFile(*kubeconfig, path)
}
