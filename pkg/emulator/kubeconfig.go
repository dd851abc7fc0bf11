package emulator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfigName names the cluster, the user and the context of kubeconfig files.
const kubeconfigName = "muster"

// WriteKubeconfig writes a file for kubectl and other clients outside the process: the URL that Listen returned last,
// the certificate of its authority and the administrator's token. The file is readable by its owner only; one that is
// there is replaced in one step. Before Listen there is nothing to write, which is an error.
func (s *Server) WriteKubeconfig(path string) error {
	return s.writeKubeconfig(path, s.token)
}

// WriteKubeconfigFor is WriteKubeconfig with the token of a user of Options.Tokens, by the name of the user.
func (s *Server) WriteKubeconfigFor(path, name string) error {
	token, err := s.tokenOf(name)
	if err != nil {
		return fmt.Errorf("writing kubeconfig %s: %w", path, err)
	}
	return s.writeKubeconfig(path, token)
}

func (s *Server) writeKubeconfig(path, token string) error {
	url, authority, ok := s.doors.last()
	if !ok {
		return fmt.Errorf("writing kubeconfig %s: %w", path, errors.New("the server does not listen yet: call Listen first"))
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[kubeconfigName] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: authority}
	config.AuthInfos[kubeconfigName] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[kubeconfigName] = &clientcmdapi.Context{Cluster: kubeconfigName, AuthInfo: kubeconfigName}
	config.CurrentContext = kubeconfigName
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("writing kubeconfig %s: %w", path, err)
	}
	target, err := replaceable(path)
	if err == nil {
		err = replaceFile(target, content)
	}
	if err != nil {
		return fmt.Errorf("writing kubeconfig %s: %w", path, err)
	}
	return nil
}

// replaceable returns the file that path leads to, which may not exist yet, if it is ours to replace.
func replaceable(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is there and is no regular file: name another")
	}
	if info.Size() == 0 {
		return target, nil
	}
	present, err := clientcmd.LoadFromFile(target)
	if err != nil {
		return "", fmt.Errorf("it is there and is no kubeconfig: name another: %w", err)
	}
	for name := range present.Clusters {
		if name != kubeconfigName {
			return "", fmt.Errorf("it is there and has the cluster %q, which would be lost: name another", name)
		}
	}
	return target, nil
}

// replaceFile writes a file that only its owner can read, so that a reader sees all of it or what was there before.
func replaceFile(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}
