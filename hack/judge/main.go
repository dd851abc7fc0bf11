// Command judge tells what this library makes of objects: one question a line on standard input, one answer a line on
// standard output, both JSON. The module hack/differential holds the answers against those of Kubernetes itself, from a
// program that speaks the same; package wire there describes questions and answers. They are two programs because
// Kubernetes needs other versions of the libraries that this module uses.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/features"
)

// question is an object that somebody wants to create, or to put in the place of Old.
type question struct {
	Kind      string          `json:"kind"`
	Operation string          `json:"operation"`
	Gates     []features.Gate `json:"gates"`
	Object    json.RawMessage `json:"object"`
	Old       json.RawMessage `json:"old"`
}

// answer is what becomes of the object.
type answer struct {
	Object      any      `json:"object,omitempty"`
	Errors      []fault  `json:"errors,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
	Panic       string   `json:"panic,omitempty"`
	Undecodable string   `json:"undecodable,omitempty"`
}

type fault struct {
	Type   field.ErrorType `json:"type"`
	Field  string          `json:"field"`
	Detail string          `json:"detail"`
}

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	questions := json.NewDecoder(bufio.NewReader(in))
	answers := json.NewEncoder(out)
	for questions.More() {
		var asked question
		if err := questions.Decode(&asked); err != nil {
			return fmt.Errorf("reading a question: %w", err)
		}
		given, err := judge(&asked)
		if err != nil {
			return err
		}
		if err := answers.Encode(given); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
	}
	return nil
}

func judge(asked *question) (given *answer, err error) {
	given = &answer{}
	defer func() {
		if panicked := recover(); panicked != nil {
			given.Panic = fmt.Sprint(panicked)
		}
	}()
	gates := features.KubernetesDefaults()
	for _, gate := range asked.Gates {
		gates = gates.With(gate, true)
	}
	switch asked.Kind + " " + asked.Operation {
	case "Workload create":
		created(given, asked, workloadRules(gates))
	case "Workload update":
		updated(given, asked, workloadRules(gates))
	case "PodGroup create":
		created(given, asked, podGroupRules(gates))
	case "PodGroup update":
		updated(given, asked, podGroupRules(gates))
	case "PodGroup status":
		updated(given, asked, podGroupStatusRules(gates))
	case "Job create":
		created(given, asked, jobRules(gates))
	case "Job update":
		updated(given, asked, jobRules(gates))
	case "Job status":
		updated(given, asked, jobStatusRules())
	case "Pod create":
		created(given, asked, podRules(gates))
	case "Pod update":
		updated(given, asked, podRules(gates))
	case "Pod status":
		updated(given, asked, podStatusRules(gates))
	default:
		return nil, fmt.Errorf("kind %q, operation %q: not known", asked.Kind, asked.Operation)
	}
	return given, nil
}
