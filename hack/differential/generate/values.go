package generate

import (
	"math"
	"reflect"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// words are texts that rules treat differently.
var words = []string{
	"", "a", "b", "worker", "main-1", "A", "Az", "a.b", "a_b", "-a", "a-", ".a", "a.", "a b", " a", "a ", "a/b",
	"example.com/a", "example.com/A_b",
	"Example.com/a", "example.com/", "/a", "a//b", "0", "1", "10", "-1", "01", "1a", "é", "*", "!", "a:b", "a=b", "a\nb",
	"a\tb", "..", ".", "/", "../a",
	"a/../b", "/a/../b", "..a", `C:\a`, `C:\pipe`, "C:/a", `\\.\pipe\a`, "1.2.3.4", "::1", "010.1.2.3", "1.2.3.4/24",
	"::ffff:1.2.3.4", "fe80::1", "127.0.0.1", "256.1.1.1",
	"$(A)", "$(POD)", "${A}", "metadata.name", "metadata.labels", "metadata.labels['a']", "metadata.labels['A b']",
	"metadata.annotations['a/b/c']",
	"spec.nodeName", "spec.host", "status.podIP", "status.podIPs", "status.hostIPs", "metadata.uid", "spec.serviceAccountName",
	"limits.cpu", "requests.memory", "limits.gpu",
	"limits.ephemeral-storage", "limits.hugepages-2Mi", "kubernetes.io/hostname", "kubernetes.io/os",
	"topology.kubernetes.io/zone", "node.kubernetes.io/a", "k8s.io/a",
	"app", "batch.kubernetes.io/job-name", "job-name", "controller-uid", "batch.kubernetes.io/controller-uid",
	"kubernetes.io/job-controller", "example.com/controller",
	"foregroundDeletion", "orphan", "kubernetes", "default", "system-node-critical", "system-cluster-critical", "http", "HTTP",
	"https", "http-", "cpu", "memory",
	"Ready", "PodScheduled", "DisruptionTarget", "PodGroupScheduled", "Complete", "Failed", "Suspended", "SuccessCriteriaMet",
	"FailureTarget", "Unschedulable", "aReason", "a-reason",
	"Never", "Always", "OnFailure", "v1", "batch/v1", "Job", "Pod", "Node", "localhost/a", "runtime/default", "unconfined",
	"localhost/", "localhost/../a", "NET_ADMIN", "ALL", "CAP_X", "SYS_ADMIN",
	"kernel.shm_rmid_forced", "net.ipv4.ip_forward", "net/ipv4", "kernel.sem", "kernel.other", "busybox", "busybox:latest",
	"repo/busybox@sha256:abc", " busybox", "UPPER",
	"0-3", "0,2", "2,1", "1-", "0-0", "5-100", "a,b", ",", "0,0", "1,3-4,6", "00000000-0000-0000-0000-000000000001", "ns", "other",
	strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253), strings.Repeat("a", 254),
	strings.Repeat("a.", 30) + "a", strings.Repeat("a", 63) + "." + strings.Repeat("b", 64),
	strings.Repeat("a", 64) + "/b", "a/" + strings.Repeat("b", 64), strings.Repeat("A", 1025), strings.Repeat("m", 32769),
	strings.Repeat("a", 317), strings.Repeat("a", 59), strings.Repeat("a", 15), strings.Repeat("a", 16),
}

// numbers are at the edges of rules.
var numbers = []int64{
	0, 0, 1, 1, 2, 3, 4, 5, 7, 10, 20, 30, 60, 63, 64, 100, 101, 127, 128, 255, 256, 420, 511, 512, 777, 1000, 3599, 3600,
	9999, 10000, 10001, 65535, 65536, 99999, 100000, 100001,
	1 << 20, math.MaxInt32, -1, -2, -100, math.MinInt32,
}

var bigNumbers = []int64{math.MaxInt32 + 1, 1 << 32, 1 << 40, math.MaxInt64, math.MinInt64}

var quantities = []string{
	"0", "1", "2", "100m", "1.5", "-1", "1Gi", "512Mi", "1e3", "0.5m", "1n", "2Mi", "3Mi", "1000000", "1500m", "4Mi", "1k",
	"0.1", "10",
}

var resourceNames = []corev1.ResourceName{
	"cpu", "memory", "ephemeral-storage", "storage", "hugepages-2Mi", "hugepages-1Gi", "hugepages-", "example.com/gpu",
	"nvidia.com/gpu", "kubernetes.io/x", "pods", "gpu", "",
	"requests.example.com/x", "a b", "example.com/", "requests.cpu", "attachable-volumes-x", "X",
}

// values lists what a named type of text may be, with something near it that it may not be.
var values = map[reflect.Type][]string{
	reflect.TypeFor[batchv1.CompletionMode]():                      {"NonIndexed", "Indexed"},
	reflect.TypeFor[batchv1.PodFailurePolicyAction]():              {"FailJob", "FailIndex", "Ignore", "Count"},
	reflect.TypeFor[batchv1.PodFailurePolicyOnExitCodesOperator](): {"In", "NotIn"},
	reflect.TypeFor[batchv1.PodReplacementPolicy]():                {"TerminatingOrFailed", "Failed"},
	reflect.TypeFor[batchv1.JobConditionType](): {"Complete", "Failed", "Suspended", "FailureTarget",
		"SuccessCriteriaMet"},
	reflect.TypeFor[corev1.AppArmorProfileType]():                     {"Unconfined", "RuntimeDefault", "Localhost"},
	reflect.TypeFor[corev1.AzureDataDiskCachingMode]():                {"None", "ReadOnly", "ReadWrite"},
	reflect.TypeFor[corev1.AzureDataDiskKind]():                       {"Shared", "Dedicated", "Managed"},
	reflect.TypeFor[corev1.Capability]():                              {"NET_ADMIN", "ALL", "CAP_SYS_ADMIN"},
	reflect.TypeFor[corev1.ConditionStatus]():                         {"True", "False", "Unknown"},
	reflect.TypeFor[corev1.ContainerRestartPolicy]():                  {"Always", "Never", "OnFailure"},
	reflect.TypeFor[corev1.ContainerRestartRuleAction]():              {"Restart", "RestartAllContainers"},
	reflect.TypeFor[corev1.ContainerRestartRuleOnExitCodesOperator](): {"In", "NotIn"},
	reflect.TypeFor[corev1.DNSPolicy](): {"ClusterFirst", "Default", "None",
		"ClusterFirstWithHostNet"},
	reflect.TypeFor[corev1.HostPathType](): {"", "Directory", "DirectoryOrCreate", "File",
		"FileOrCreate", "Socket", "CharDevice", "BlockDevice"},
	reflect.TypeFor[corev1.MountPropagationMode](): {"None", "HostToContainer", "Bidirectional"},
	reflect.TypeFor[corev1.NodeInclusionPolicy]():  {"Honor", "Ignore"},
	reflect.TypeFor[corev1.NodeSelectorOperator](): {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"},
	reflect.TypeFor[corev1.OSName]():               {"linux", "windows"},
	reflect.TypeFor[corev1.PersistentVolumeAccessMode](): {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany",
		"ReadWriteOncePod"},
	reflect.TypeFor[corev1.PersistentVolumeMode](): {"Block", "Filesystem"},
	reflect.TypeFor[corev1.PodConditionType](): {"Ready", "PodScheduled", "DisruptionTarget",
		"Initialized", "ContainersReady", "example.com/a", "PodResizePending"},
	reflect.TypeFor[corev1.PodFSGroupChangePolicy]():        {"OnRootMismatch", "Always"},
	reflect.TypeFor[corev1.PodPhase]():                      {"Pending", "Running", "Succeeded", "Failed", "Unknown"},
	reflect.TypeFor[corev1.PodQOSClass]():                   {"Guaranteed", "Burstable", "BestEffort"},
	reflect.TypeFor[corev1.PodSELinuxChangePolicy]():        {"MountOption", "Recursive"},
	reflect.TypeFor[corev1.PreemptionPolicy]():              {"Never", "PreemptLowerPriority"},
	reflect.TypeFor[corev1.ProcMountType]():                 {"Default", "Unmasked"},
	reflect.TypeFor[corev1.Protocol]():                      {"TCP", "UDP", "SCTP"},
	reflect.TypeFor[corev1.PullPolicy]():                    {"Always", "Never", "IfNotPresent"},
	reflect.TypeFor[corev1.RecursiveReadOnlyMode]():         {"Disabled", "IfPossible", "Enabled"},
	reflect.TypeFor[corev1.ResourceHealthStatus]():          {"Healthy", "Unhealthy", "Unknown"},
	reflect.TypeFor[corev1.ResourceResizeRestartPolicy]():   {"NotRequired", "RestartContainer"},
	reflect.TypeFor[corev1.RestartPolicy]():                 {"Always", "OnFailure", "Never"},
	reflect.TypeFor[corev1.SeccompProfileType]():            {"Unconfined", "RuntimeDefault", "Localhost"},
	reflect.TypeFor[corev1.Signal]():                        {"SIGTERM", "SIGKILL", "SIGRTMIN+1", "SIGX"},
	reflect.TypeFor[corev1.StorageMedium]():                 {"", "Memory", "HugePages", "HugePages-2Mi"},
	reflect.TypeFor[corev1.SupplementalGroupsPolicy]():      {"Merge", "Strict"},
	reflect.TypeFor[corev1.TaintEffect]():                   {"NoSchedule", "PreferNoSchedule", "NoExecute", ""},
	reflect.TypeFor[corev1.TerminationMessagePolicy]():      {"File", "FallbackToLogsOnError"},
	reflect.TypeFor[corev1.TolerationOperator]():            {"Exists", "Equal", "", "Lt", "Gt"},
	reflect.TypeFor[corev1.UnsatisfiableConstraintAction](): {"DoNotSchedule", "ScheduleAnyway"},
	reflect.TypeFor[corev1.URIScheme]():                     {"HTTP", "HTTPS"},
	reflect.TypeFor[metav1.ConditionStatus]():               {"True", "False", "Unknown"},
	reflect.TypeFor[metav1.LabelSelectorOperator]():         {"In", "NotIn", "Exists", "DoesNotExist"},
	reflect.TypeFor[metav1.ManagedFieldsOperationType]():    {"Apply", "Update"},
	reflect.TypeFor[schedulingv1alpha2.DisruptionMode]():    {"Pod", "PodGroup"},
}
