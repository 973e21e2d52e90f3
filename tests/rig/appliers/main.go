// The tools beside us that apply manifests, as they are: `kubectl ...`, and `flux NEW OLD`, which does with
// Flux's own package what its kustomize-controller does: stages and waits, then the prune of what is in OLD alone.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/cli-utils/pkg/object"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const patience = 3 * time.Minute

func main() {
	if len(os.Args) == 4 && os.Args[1] == "flux" {
		if err := flux(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Args = os.Args[1:]
	os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))
}

func flux(wanted, former string) error {
	applied, err := read(wanted)
	if err != nil {
		return err
	}
	stale, err := read(former)
	if err != nil {
		return err
	}
	manager, err := newManager()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := normalize.UnstructuredList(applied); err != nil {
		return err
	}
	if _, err := manager.ApplyAllStaged(ctx, applied, ssa.DefaultApplyOptions()); err != nil {
		return err
	}
	_, err = manager.DeleteAll(ctx, without(stale, applied), ssa.DefaultDeleteOptions())
	return err
}

func newManager() (*ssa.ResourceManager, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	direct, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	poller := polling.NewStatusPoller(direct, direct.RESTMapper(), polling.Options{})
	owner := ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"}
	return ssa.NewResourceManager(direct, poller, owner), nil
}

func read(name string) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return utils.ReadObjects(file)
}

func without(objects, others []*unstructured.Unstructured) []*unstructured.Unstructured {
	known := map[object.ObjMetadata]bool{}
	for _, other := range others {
		known[object.UnstructuredToObjMetadata(other)] = true
	}
	left := []*unstructured.Unstructured{}
	for _, one := range objects {
		if !known[object.UnstructuredToObjMetadata(one)] {
			left = append(left, one)
		}
	}
	return left
}
