// Command controlplane is a whole Kubernetes control plane in one binary: its first argument picks the component.
// One link serves every component, so the tests build and cache a single file.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubeapiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kubecontrollermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
)

var components = map[string]func() *cobra.Command{
	"kube-apiserver":          kubeapiserver.NewAPIServerCommand,
	"kube-controller-manager": kubecontrollermanager.NewControllerManagerCommand,
	"kube-proxy":              kubeproxy.NewProxyCommand,
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: controlplane etcd|kube-apiserver|kube-controller-manager|kube-proxy [flags]")
		os.Exit(2)
	}
	name := os.Args[1]
	os.Args = os.Args[1:]
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	command, known := components[name]
	if !known {
		fmt.Fprintf(os.Stderr, "controlplane: no component %q\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}
