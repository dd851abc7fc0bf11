package cluster_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/cluster"
)

// TestLivesOfJobs plays lives of Jobs that were recorded from a control plane with the controllers that run by default.
// There were no nodes: the steps say what users did and kubelets would have reported. What stood after each step, and
// what the controllers told in events, must be the same.
func TestLivesOfJobs(t *testing.T) {
	playAll(t, "job-lives.json", lives())
}

func lives() script[lifeStep] {
	return script[lifeStep]{
		controllers: cluster.Controllers(),
		take:        (*player).takeLifeStep,
		still:       func(s lifeStep) time.Duration { return seconds(s.Still, 1.5) },
		note:        (*player).noteLife,
	}
}

// lifeStep is what a user or a kubelet does. Beside Still one of its fields is set.
type lifeStep struct {
	Create         map[string]any `json:"create"`
	Patch          *patchStep     `json:"patch"`
	Delete         *deleteStep    `json:"delete"`
	Pods           *report        `json:"pods"`
	PodSet         *report        `json:"podSet"`
	PodTerminating *report        `json:"podTerminating"` // what a kubelet reports of the pods that are being deleted
	PodDelete      *podDeleteStep `json:"podDelete"`
	PodLabel       *podLabelStep  `json:"podLabel"`
	Bind           *selection     `json:"bind"`
	PodFinalize    string         `json:"podFinalize"`  // "all": a kubelet ends the pods that are being deleted
	PodDeleteAny   string         `json:"podDeleteAny"` // "all", those that have ended as well
	DeleteOwned    string         `json:"deleteOwned"`  // every object of this kind
	Wait           float64        `json:"wait"`         // seconds
	Still          float64        `json:"still"`        // seconds
}

type patchStep struct {
	Kind        string          `json:"kind"`
	Name        string          `json:"name"`
	Subresource string          `json:"subresource"`
	Body        json.RawMessage `json:"body"`
}

type deleteStep struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Policy string `json:"policy"`
}

type podDeleteStep struct {
	Select selection `json:"select"`
	Grace  *int64    `json:"grace"`
}

type podLabelStep struct {
	Select selection         `json:"select"`
	Labels map[string]string `json:"labels"`
}

func (p *player) takeLifeStep(s lifeStep) {
	p.Helper()
	switch {
	case s.Create != nil:
		p.create(resources[(&object{Object: s.Create}).GetKind()], s.Create)
	case s.Patch != nil:
		target := path(s.Patch.Kind, s.Patch.Name)
		if s.Patch.Subresource != "" {
			target += "/" + s.Patch.Subresource
		}
		p.patch(target, s.Patch.Body)
	case s.Delete != nil:
		p.removeBy(s.Delete)
	case s.DeleteOwned != "":
		for _, o := range p.list(s.DeleteOwned) {
			p.remove(path(s.DeleteOwned, o.GetName()), "")
		}
	case s.Wait > 0:
		pass(time.Duration(s.Wait * float64(time.Second)))
	default:
		p.takePodStep(s)
	}
}

func (p *player) removeBy(s *deleteStep) {
	p.Helper()
	query := ""
	if s.Policy != "" {
		query = "propagationPolicy=" + s.Policy
	}
	p.remove(path(s.Kind, s.Name), query)
}

func (p *player) takePodStep(s lifeStep) {
	p.Helper()
	switch {
	case s.Pods != nil:
		p.report(p.selected(s.Pods.Select), *s.Pods)
	case s.PodSet != nil:
		p.report([]object{p.get(path("Pod", s.PodSet.Name))}, *s.PodSet)
	case s.PodTerminating != nil:
		p.report(p.terminating(), *s.PodTerminating)
	case s.PodDelete != nil:
		query := ""
		if s.PodDelete.Grace != nil {
			query = "gracePeriodSeconds=" + strconv.FormatInt(*s.PodDelete.Grace, 10)
		}
		for _, pod := range p.selected(s.PodDelete.Select) {
			p.remove(path("Pod", pod.GetName()), query)
		}
	case s.PodLabel != nil:
		for _, pod := range p.selected(s.PodLabel.Select) {
			p.patch(path("Pod", pod.GetName()), map[string]any{"metadata": map[string]any{"labels": s.PodLabel.Labels}})
		}
	case s.Bind != nil:
		for _, pod := range p.selected(*s.Bind) {
			p.bind(pod.GetName(), "n1")
		}
	case s.PodFinalize != "":
		p.finalize()
	case s.PodDeleteAny != "":
		for _, pod := range p.list("Pod") {
			p.remove(path("Pod", pod.GetName()), "gracePeriodSeconds=0")
		}
	default:
		p.Fatal("a step that says nothing")
	}
}

func (p *player) bind(pod, node string) {
	p.Helper()
	p.create(path("Pod", pod)+"/binding", map[string]any{
		"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": pod},
		"target": map[string]any{"kind": "Node", "name": node},
	})
}

// finalize does what a kubelet does at the end of pods that are being deleted. Only the last request of it was recorded.
func (p *player) finalize() {
	p.Helper()
	for _, pod := range p.terminating() {
		if !ended(pod) {
			codes := p.codes
			p.report([]object{pod}, report{Phase: corev1.PodFailed, ExitCode: new(int32(137))})
			p.codes = codes
		}
		p.remove(path("Pod", pod.GetName()), "gracePeriodSeconds=0")
	}
}
