package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// printLogs prints the last so many lines that the containers of the pods of Jobs have written, those with none left out.
func (c *clients) printLogs(ctx context.Context, out io.Writer, count int) {
	if count == 0 {
		return
	}
	pods, err := c.kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Fprintf(out, "reading pods for their logs: %v\n", err)
		return
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for _, container := range containers {
				options := &corev1.PodLogOptions{Container: container.Name, TailLines: new(int64(count))}
				text, err := c.kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).DoRaw(ctx)
				if err != nil {
					continue // it has not run
				}
				printLog(out, pod.Name+"/"+container.Name, text)
			}
		}
	}
}

// printLog prints a log with the name of its container before each line.
func printLog(out io.Writer, name string, text []byte) {
	lines := bufio.NewReader(bytes.NewReader(text))
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			fmt.Fprintf(out, "[%s] %s", name, line)
		}
		if err != nil {
			if line != "" {
				fmt.Fprintln(out)
			}
			return
		}
	}
}
