// Renders a kustomization and decodes each of its objects strictly into the type of its API: an unknown or repeated key and a value
// of the wrong type are errors.
//
//	validate FOLDER    JSON on standard output: the objects; exit code 1 and a line for each fault on standard error
//
// Types of Kubernetes and of the Prometheus operator are their own Go modules; those of Strimzi and KEDA are in kinds.go.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

func fault(text []byte) error {
	var head struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(text, &head); err != nil {
		return err
	}
	make, known := kinds[head.APIVersion+" "+head.Kind]
	if !known {
		return fmt.Errorf("no such kind: %s %s", head.APIVersion, head.Kind)
	}
	return yaml.UnmarshalStrict(text, make())
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: validate FOLDER")
		os.Exit(2)
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	all, faults := []any{}, 0
	for _, object := range objects.Resources() {
		text := []byte(object.MustYaml())
		if err := fault(text); err != nil {
			fmt.Fprintf(os.Stderr, "%s %s: %v\n", object.GetKind(), object.GetName(), err)
			faults++
		}
		var value any
		if err := yaml.Unmarshal(text, &value); err == nil {
			all = append(all, value)
		}
	}
	if faults > 0 {
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(all); err != nil {
		os.Exit(1)
	}
}
