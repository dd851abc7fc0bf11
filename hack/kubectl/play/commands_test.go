package play_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: a}}
data: {color: red, size: "3"}
`

const cronJob = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "main:v1"}]}}}}
`

// TestCommands goes through the commands that people use, and what they print.
func TestCommands(t *testing.T) {
	built := build(t)
	c := client{t, built.kubectl, built.start(t, "--pod-duration", "100ms"), t.TempDir()}
	for _, part := range []struct {
		name string
		do   func(c client)
	}{
		{"discovery", discovery},
		{"create", create},
		{"get in all forms", getForms},
		{"label, annotate, patch", change},
		{"diff, edit, replace", editAndDiff},
		{"apply by the server, with conflicts", serverSideApply},
		{"delete with each cascade", cascades},
		{"create job", createJobs},
		{"describe and events", describeAndEvents},
		{"auth", auth},
		{"workloads of other kinds", otherKinds},
		{"nodes", nodes},
	} {
		t.Run(part.name, func(t *testing.T) {
			c.t = t
			part.do(c)
		})
	}
}

func discovery(c client) {
	versions := strings.Fields(c.run("", "api-versions"))
	for _, want := range []string{"apps/v1", "batch/v1", "coordination.k8s.io/v1", "rbac.authorization.k8s.io/v1", "scheduling.k8s.io/v1alpha2", "v1"} {
		assert.Contains(c.t, versions, want)
	}
	assert.Regexp(c.t, `(?m)^pods +po +v1 +true +Pod +create,delete,deletecollection,get,list,patch,update,watch +all$`,
		c.run("", "api-resources", "-o", "wide"))
	assert.Contains(c.t, c.run("", "explain", "job.spec.completionMode"), "FIELD: completionMode <string>")
	assert.Contains(c.t, c.run("", "explain", "podgroup", "--recursive"), "minCount\t<integer> -required-")
	assert.Contains(c.t, c.refused("", "get", "unicorns"), `the server doesn't have a resource type "unicorns"`)
	assert.Contains(c.t, c.run("", "cluster-info"), "Kubernetes control plane is running at https://127.0.0.1:")
	assert.Equal(c.t, "ok", c.run("", "get", "--raw", "/readyz"))
}

func create(c client) {
	assert.Equal(c.t, "configmap/settings created\n", c.run(configMap, "create", "-f", "-"))
	assert.Contains(c.t, c.refused(configMap, "create", "-f", "-"), `configmaps "settings" already exists`)
	assert.Equal(c.t, "secret/door created\n", c.run("", "create", "secret", "generic", "door", "--from-literal=code=1234"))
	assert.Equal(c.t, "serviceaccount/robot created\n", c.run("", "create", "serviceaccount", "robot"))
	assert.Equal(c.t, "configmap/dry created (server dry run)\n", c.run("", "create", "configmap", "dry", "--dry-run=server"))
	assert.Contains(c.t, c.refused("", "get", "configmap", "dry"), "not found")
}

func getForms(c client) {
	assert.Regexp(c.t, `^NAME +DATA +AGE\nsettings +2 +\S+\n$`, c.run("", "get", "configmap", "settings", "-o", "wide"))
	assert.Contains(c.t, c.run("", "get", "cm/settings", "-o", "yaml"), "  color: red\n  size: \"3\"\nkind: ConfigMap\n")
	assert.NotContains(c.t, c.run("", "get", "cm/settings", "-o", "yaml"), "managedFields")
	assert.Contains(c.t, c.run("", "get", "cm/settings", "-o", "json", "--show-managed-fields"), `"manager": "kubectl-create"`)
	assert.Equal(c.t, "red", c.run("", "get", "cm/settings", "-o", "jsonpath={.data.color}"))
	assert.Equal(c.t, "NAME       COLOR\nsettings   red\n", c.run("", "get", "cm", "-l", "app=a", "-o", "custom-columns=NAME:.metadata.name,COLOR:.data.color"))
	assert.Equal(c.t, "configmap/settings\n", c.run("", "get", "cm", "--field-selector", "metadata.name=settings", "-o", "name"))
	assert.Equal(c.t, "settings", c.run("", "get", "cm", "settings", "-o", `go-template={{.metadata.name}}`))
	assert.Regexp(c.t, `(?m)^default +settings +2 `, c.run("", "get", "cm", "-A"))
	assert.Contains(c.t, c.run("", "get", "cm", "--sort-by", ".metadata.name", "--no-headers", "--show-labels"), "app=a")
	assert.Contains(c.t, c.run("", "get", "cm", "--chunk-size", "1"), "settings")
}

func change(c client) {
	assert.Equal(c.t, "configmap/settings labeled\n", c.run("", "label", "cm", "settings", "tier=front"))
	assert.Contains(c.t, c.refused("", "label", "cm", "settings", "tier=back"), "'tier' already has a value (front), and --overwrite is false")
	assert.Equal(c.t, "configmap/settings unlabeled\n", c.run("", "label", "cm", "settings", "tier-"))
	assert.Equal(c.t, "configmap/settings annotated\n", c.run("", "annotate", "cm", "settings", "note=hello"))
	for kind, patch := range map[string]string{
		"strategic": `{"data":{"strategic":"yes"}}`,
		"merge":     `{"data":{"merge":"yes"}}`,
		"json":      `[{"op":"add","path":"/data/json","value":"yes"}]`,
	} {
		assert.Equal(c.t, "configmap/settings patched\n", c.run("", "patch", "cm", "settings", "--type", kind, "-p", patch))
		assert.Equal(c.t, "yes", c.run("", "get", "cm", "settings", "-o", "jsonpath={.data."+kind+"}"))
	}
	assert.Equal(c.t, "configmap/settings patched (no change)\n", c.run("", "patch", "cm", "settings", "--type", "merge", "-p", `{"data":{"merge":"yes"}}`))
}

func editAndDiff(c client) {
	changed := strings.Replace(configMap, "color: red", "color: blue", 1)
	difference := c.refused(changed, "diff", "-f", "-") // it exits with 1 where there is one
	assert.Contains(c.t, difference, "-  color: red\n+  color: blue\n")

	script := filepath.Join(c.t.TempDir(), "edit.sh")
	require.NoError(c.t, os.WriteFile(script, []byte("#!/bin/sh\nsed -i 's/color: red/color: green/' \"$1\"\n"), 0o700)) //nolint:gosec // it is run
	c.t.Setenv("KUBE_EDITOR", script)
	assert.Equal(c.t, "configmap/settings edited\n", c.run("", "edit", "cm", "settings"))
	assert.Equal(c.t, "green", c.run("", "get", "cm", "settings", "-o", "jsonpath={.data.color}"))
	assert.Equal(c.t, "Edit cancelled, no changes made.\n", c.run("", "edit", "cm", "settings"))

	assert.Equal(c.t, "configmap/settings replaced\n", c.run(changed, "replace", "-f", "-"))
	assert.Equal(c.t, "blue", c.run("", "get", "cm", "settings", "-o", "jsonpath={.data.color}"))
	assert.Empty(c.t, c.run("", "get", "cm", "settings", "-o", "jsonpath={.data.merge}"))
}

func serverSideApply(c client) {
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\ndata: {color: %}\n"
	assert.Equal(c.t, "configmap/applied serverside-applied\n",
		c.run(strings.Replace(manifest, "%", "red", 1), "apply", "--server-side", "--field-manager", "one", "-f", "-"))
	assert.Contains(c.t, c.refused(strings.Replace(manifest, "%", "blue", 1), "apply", "--server-side", "--field-manager", "two", "-f", "-"),
		`Apply failed with 1 conflict: conflict with "one": .data.color`)
	assert.Equal(c.t, "configmap/applied serverside-applied\n",
		c.run(strings.Replace(manifest, "%", "blue", 1), "apply", "--server-side", "--force-conflicts", "--field-manager", "two", "-f", "-"))
	assert.Equal(c.t, "configmap/applied serverside-applied (server dry run)\n",
		c.run(strings.Replace(manifest, "%", "pink", 1), "apply", "--server-side", "--field-manager", "two", "--dry-run=server", "-f", "-"))
	assert.Equal(c.t, "blue", c.run("", "get", "cm", "applied", "-o", "jsonpath={.data.color}"))

	// By the client: what is no longer in the manifest goes, and what others have set stays.
	own := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata: {a: \"1\", b: \"2\"}\n"
	c.run(own, "apply", "-f", "-")
	c.run("", "patch", "cm", "own", "--type", "merge", "-p", `{"data":{"c":"3"}}`)
	assert.Equal(c.t, "configmap/own configured\n", c.run(strings.Replace(own, `, b: "2"`, "", 1), "apply", "-f", "-"))
	assert.JSONEq(c.t, `{"a":"1","c":"3"}`, c.run("", "get", "cm", "own", "-o", "jsonpath={.data}"))
	assert.Equal(c.t, "configmap/own unchanged\n", c.run(strings.Replace(own, `, b: "2"`, "", 1), "apply", "-f", "-"))
}

func cascades(c client) {
	for _, cascade := range []string{"background", "foreground", "orphan"} {
		job := strings.Replace(gangJob, "name: gang", "name: "+cascade, 1)
		c.run(job, "apply", "-f", "-")
		c.run("", "wait", "job/"+cascade, "--for=condition=Complete", "--timeout=60s")
		assert.Equal(c.t, `job.batch "`+cascade+`" deleted from default namespace`+"\n", c.run("", "delete", "job", cascade, "--cascade="+cascade, "--timeout=60s"))
		pods := []string{"pods", "-l", "job-name=" + cascade}
		if cascade == "orphan" {
			assert.Len(c.t, strings.Fields(c.run("", append([]string{"get", "-o", "name"}, pods...)...)), 2)
			c.run("", append([]string{"delete", "--timeout=60s"}, pods...)...)
			continue
		}
		c.run("", append([]string{"wait", "--for=delete", "--timeout=60s"}, pods...)...)
		assert.Contains(c.t, c.run("", append([]string{"get"}, pods...)...), "No resources found")
	}
	assert.Contains(c.t, c.run("", "delete", "cm", "own", "applied", "--wait=false"), `configmap "own" deleted`)
	assert.Contains(c.t, c.refused("", "delete", "cm", "own"), `configmaps "own" not found`)
	assert.Empty(c.t, c.run("", "delete", "cm", "own", "--ignore-not-found"))
}

func createJobs(c client) {
	assert.Equal(c.t, "job.batch/hello created\n", c.run("", "create", "job", "hello", "--image=busybox", "--", "echo", "hello"))
	assert.Equal(c.t, "job.batch/hello condition met\n", c.run("", "wait", "--for=condition=Complete", "job/hello", "--timeout=60s"))
	assert.Equal(c.t, "cronjob.batch/nightly created\n", c.run(cronJob, "apply", "-f", "-"))
	assert.Regexp(c.t, `(?m)^nightly +0 3 \* \* \* +<none> +False +0 +<none> +\S+$`, c.run("", "get", "cronjobs"))
	assert.Equal(c.t, "job.batch/now created\n", c.run("", "create", "job", "now", "--from=cronjob/nightly"))
	c.run("", "wait", "--for=condition=Complete", "job/now", "--timeout=60s")
	assert.Equal(c.t, "CronJob", c.run("", "get", "job", "now", "-o", "jsonpath={.metadata.ownerReferences[0].kind}"))
	c.run("", "delete", "cronjob", "nightly", "--cascade=foreground", "--timeout=60s")
	assert.Contains(c.t, c.refused("", "get", "job", "now"), "not found")
}

func describeAndEvents(c client) {
	description := c.run("", "describe", "job", "hello")
	assert.Regexp(c.t, `Pods Statuses: +0 Active \(0 Ready\) / 1 Succeeded / 0 Failed`, description)
	assert.Contains(c.t, description, "SuccessfulCreate")
	pod := strings.TrimPrefix(strings.TrimSpace(c.run("", "get", "pods", "-l", "job-name=hello", "-o", "name")), "pod/")
	assert.Regexp(c.t, `(?m)^Status: +Succeeded$`, c.run("", "describe", "pod", pod))
	assert.Regexp(c.t, `(?m)^\S+ +Normal +SuccessfulCreate +Job/hello +Created pod: hello-\S+$`, c.run("", "events", "--for", "job/hello"))
	assert.Contains(c.t, c.run("", "get", "events", "--field-selector", "reason=Completed"), "job/hello")
	assert.Regexp(c.t, `(?m)^Roles: +`, c.run("", "describe", "node", "node-1"))
	assert.Contains(c.t, c.run("", "describe", "namespace", "default"), "Status:       Active")
	assert.Contains(c.t, c.run("", "describe", "cm", "settings"), "color:\n----\nblue\n")
}

func auth(c client) {
	assert.Equal(c.t, "yes\n", c.run("", "auth", "can-i", "create", "jobs"))
	assert.Equal(c.t, "no\n", c.refused("", "auth", "can-i", "create", "jobs", "--as", "nobody"))
	assert.Regexp(c.t, `(?m)^\*\.\* +\[\] +\[\] +\[\*\]$`, c.run("", "auth", "can-i", "--list"))
	assert.Regexp(c.t, `Username +kubernetes-admin`, c.run("", "auth", "whoami"))
	assert.NotEmpty(c.t, strings.TrimSpace(c.run("", "create", "token", "robot")))
	assert.Equal(c.t, "role.rbac.authorization.k8s.io/reader created\n", c.run("", "create", "role", "reader", "--verb=get,list", "--resource=pods"))
	assert.Equal(c.t, "rolebinding.rbac.authorization.k8s.io/robot created\n", c.run("", "create", "rolebinding", "robot", "--role=reader", "--serviceaccount=default:robot"))
	assert.Regexp(c.t, `(?m)^robot +Role/reader +\S+ +default/robot`, c.run("", "get", "rolebindings", "-o", "wide"))
}

// otherKinds are served, though nothing but a client makes anything of them.
func otherKinds(c client) {
	assert.Equal(c.t, "deployment.apps/web created\n", c.run("", "create", "deployment", "web", "--image=nginx", "--replicas=2"))
	assert.Regexp(c.t, `(?m)^web +0/2 +0 +0 +\S+ +nginx +nginx +app=web$`, c.run("", "get", "deployments", "-o", "wide"))
	assert.Equal(c.t, "deployment.apps/web scaled\n", c.run("", "scale", "deployment", "web", "--replicas=5"))
	assert.Equal(c.t, "5", c.run("", "get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"))
	assert.Equal(c.t, "deployment.apps/web image updated\n", c.run("", "set", "image", "deployment/web", "nginx=nginx:2"))
	assert.Equal(c.t, "service/web exposed\n", c.run("", "expose", "deployment", "web", "--port=80"))
	assert.Regexp(c.t, `(?m)^web +ClusterIP +\d+\.\d+\.\d+\.\d+ +<none> +80/TCP +\S+$`, c.run("", "get", "services"))
	assert.Equal(c.t, "poddisruptionbudget.policy/web created\n", c.run("", "create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=1"))
	c.run("", "delete", "deployment/web", "service/web", "pdb/web", "--timeout=60s")
}

func nodes(c client) {
	assert.Equal(c.t, "node/node-1 cordoned\n", c.run("", "cordon", "node-1"))
	assert.Regexp(c.t, `(?m)^node-1 +Ready,SchedulingDisabled `, c.run("", "get", "nodes"))
	assert.Equal(c.t, "node/node-1 uncordoned\n", c.run("", "uncordon", "node-1"))
	assert.Equal(c.t, "node/node-1 tainted\n", c.run("", "taint", "node", "node-1", "a=b:NoSchedule"))
	assert.Equal(c.t, "node/node-1 untainted\n", c.run("", "taint", "node", "node-1", "a-"))
	assert.Contains(c.t, c.run("", "drain", "node-1", "--ignore-daemonsets", "--force", "--timeout=60s"), "node/node-1 drained")
	c.run("", "uncordon", "node-1")
}
