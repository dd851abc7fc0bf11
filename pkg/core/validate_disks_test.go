package core_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/musterkube/muster/pkg/core"
)

// What the API says of volumes of old drivers, below spec.volumes[0].
func TestValidateDisks(t *testing.T) {
	t.Parallel()
	const wholeIQN = "iqn.2001-04.com.example:storage"
	for name, tc := range map[string]struct {
		given corev1.VolumeSource
		want  []string
	}{
		"a disk of GCE has a name": {
			given: corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{Partition: -1}},
			want: []string{
				"persistentDisk.pdName: Required value",
				"persistentDisk.partition: Invalid value: -1: must be between 1 and 255, inclusive",
			},
		},
		"a disk of AWS has an identity": {
			given: corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{Partition: 256}},
			want: []string{
				"awsElasticBlockStore.volumeID: Required value",
				"awsElasticBlockStore.partition: Invalid value: 256: must be between 1 and 255, inclusive",
			},
		},
		"a target of iSCSI has an address and a name": {
			given: corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{Lun: 256, SessionCHAPAuth: true}},
			want: []string{
				"iscsi.targetPortal: Required value", "iscsi.iqn: Required value",
				"iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive", "iscsi.secretRef: Required value",
			},
		},
		"names of iSCSI have one of three forms": {
			given: corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "p", IQN: "iqn.x", InitiatorName: new("x")}},
			want: []string{
				`iscsi.iqn: Invalid value: "iqn.x": must be valid format`,
				`iscsi.initiatorname: Invalid value: "x": must be valid format starting with iqn, eui, or naa`,
			},
		},
		"an extended identifier of iSCSI has sixteen digits": {
			given: corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "p", IQN: "eui.0123456789abcdef", InitiatorName: new("eui.0")}},
			want:  []string{`iscsi.initiatorname: Invalid value: "eui.0": must be valid format`},
		},
		"volume and portal of iSCSI are short together": {
			given: corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: strings.Repeat("p", 63), IQN: wholeIQN, InitiatorName: new(wholeIQN)}},
			want: []string{`name: Invalid value: "v": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters ` +
				"if iscsi.initiatorName is specified."},
		},
		"a volume of glusterfs has endpoints and a path": {
			given: corev1.VolumeSource{Glusterfs: &corev1.GlusterfsVolumeSource{}},
			want:  []string{"glusterfs.endpoints: Required value", "glusterfs.path: Required value"},
		},
		"a dataset of flocker is named": {
			given: corev1.VolumeSource{Flocker: &corev1.FlockerVolumeSource{}},
			want:  []string{"flocker: Required value: one of datasetName and datasetUUID is required"},
		},
		"a dataset of flocker is named in one way": {
			given: corev1.VolumeSource{Flocker: &corev1.FlockerVolumeSource{DatasetName: "a/b", DatasetUUID: "u"}},
			want: []string{
				`flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously`,
				`flocker.datasetName: Invalid value: "a/b": must not contain '/'`,
			},
		},
		"an image of rados has monitors": {
			given: corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{}},
			want:  []string{"rbd.monitors: Required value", "rbd.image: Required value"},
		},
		"a volume of cinder has an identity": {
			given: corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{SecretRef: &corev1.LocalObjectReference{}}},
			want:  []string{"cinder.volumeID: Required value", "cinder.secretRef.name: Required value"},
		},
		"cephfs has monitors": {
			given: corev1.VolumeSource{CephFS: &corev1.CephFSVolumeSource{}},
			want:  []string{"cephfs.monitors: Required value"},
		},
		"a registry of quobyte has ports": {
			given: corev1.VolumeSource{Quobyte: &corev1.QuobyteVolumeSource{Registry: "a:1,b", Volume: "v"}},
			want:  []string{`quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas`},
		},
		"a tenant of quobyte is short": {
			given: corev1.VolumeSource{Quobyte: &corev1.QuobyteVolumeSource{Registry: "a", Tenant: strings.Repeat("t", 65)}},
			want: []string{
				"quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters", "quobyte.volume: Required value",
			},
		},
		"fibre channel has targets or identifiers": {
			given: corev1.VolumeSource{FC: &corev1.FCVolumeSource{}},
			want:  []string{"fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"},
		},
		"fibre channel has not both": {
			given: corev1.VolumeSource{FC: &corev1.FCVolumeSource{TargetWWNs: []string{"a"}, WWIDs: []string{"b"}}},
			want: []string{
				`fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously`,
				"fc.lun: Required value: lun is required if targetWWNs is specified",
			},
		},
		"options of a flex volume are not those of Kubernetes": {
			given: corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{
				Options: map[string]string{"a.K8s.io/b": "", "kubernetes.io": "", "example.com/kubernetes.io": ""},
			}},
			want: []string{
				"flexVolume.driver: Required value",
				`flexVolume.options[a.K8s.io/b]: Invalid value: "a.K8s.io/b": kubernetes.io and k8s.io namespaces are reserved`,
				`flexVolume.options[kubernetes.io]: Invalid value: "kubernetes.io": kubernetes.io and k8s.io namespaces are reserved`,
			},
		},
		"a file share of Azure has a secret": {
			given: corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{}},
			want:  []string{"azureFile.secretName: Required value", "azureFile.shareName: Required value"},
		},
		"a blob disk of Azure, which is the default, has an address": {
			given: corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: "u"}},
			want: []string{`azureDisk.diskURI: Unsupported value: "u": supported values: ` +
				`"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"`},
		},
		"a managed disk of Azure is one of a subscription": {
			given: corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{
				DiskName: "d", DataDiskURI: "https://u", Kind: new(corev1.AzureManagedDisk), CachingMode: new(corev1.AzureDataDiskCachingMode("Some")),
			}},
			want: []string{
				`azureDisk.cachingMode: Unsupported value: "Some": supported values: "None", "ReadOnly", "ReadWrite"`,
				`azureDisk.diskURI: Unsupported value: "https://u": supported values: ` +
					`"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"`,
			},
		},
		"a volume of vSphere has a path": {
			given: corev1.VolumeSource{VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{}},
			want:  []string{"vsphereVolume.volumePath: Required value"},
		},
		"a disk of Photon has an identity": {
			given: corev1.VolumeSource{PhotonPersistentDisk: &corev1.PhotonPersistentDiskVolumeSource{}},
			want:  []string{"photonPersistentDisk.pdID: Required value"},
		},
		"a volume of Portworx has an identity": {
			given: corev1.VolumeSource{PortworxVolume: &corev1.PortworxVolumeSource{}},
			want:  []string{"portworxVolume.volumeID: Required value"},
		},
		"a volume of StorageOS has a name": {
			given: corev1.VolumeSource{StorageOS: &corev1.StorageOSVolumeSource{SecretRef: &corev1.LocalObjectReference{}}},
			want:  []string{"storageos.volumeName: Required value", "storageos.secretRef.name: Required value"},
		},
		"a volume of ScaleIO has a gateway": {
			given: corev1.VolumeSource{ScaleIO: &corev1.ScaleIOVolumeSource{}},
			want:  []string{"scaleIO.gateway: Required value", "scaleIO.system: Required value", "scaleIO.volumeName: Required value"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := makePod(func(pod *corev1.Pod) { pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: tc.given}} })
			var want []string
			for _, line := range tc.want {
				want = append(want, "spec.volumes[0]."+line)
			}
			assert.Equal(t, strings.Join(want, "\n"), lines(core.ValidatePod(pod, core.Options{})))
		})
	}
}
