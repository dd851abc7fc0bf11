//go:build !race

// Command oracle tells what Kubernetes makes of objects. It reads one question a line and writes one answer a line, both
// JSON; see package wire. Defaults, preparation and validation are those of the API server: the code of k8s.io/kubernetes
// itself.
//
// It is left out of builds for the race detector, which would compile Kubernetes once more, for minutes.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/capabilities"

	"github.com/musterkube/muster/hack/differential/wire"
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	capabilities.Setup(true, 0) // as with --allow-privileged, which every cluster has that runs its own network
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func serve() error {
	questions := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := bufio.NewWriter(os.Stdout)
	answers := json.NewEncoder(out)
	for questions.More() {
		var question wire.Question
		if err := questions.Decode(&question); err != nil {
			return fmt.Errorf("reading a question: %w", err)
		}
		answer, err := judge(&question)
		if err != nil {
			return err
		}
		if err := answers.Encode(answer); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
		// Whoever asks may wait for this answer before asking on.
		if err := out.Flush(); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
	}
	return nil
}
