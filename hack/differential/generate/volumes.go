package generate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func (g *Generator) addVolumes(spec *corev1.PodSpec) {
	spec.Volumes = atTimes(g, 0.35, 1, 3, func(i int) corev1.Volume {
		return corev1.Volume{Name: fmt.Sprintf("v%d", i), VolumeSource: g.volumeSource()}
	})
}

func (g *Generator) volumeSource() corev1.VolumeSource {
	if g.Chance(0.2) {
		return g.rareVolumeSource()
	}
	switch g.random.IntN(7) {
	case 0:
		return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
			Medium:    pick(g, "", corev1.StorageMediumMemory),
			SizeLimit: maybe(g, 0.3, func() resource.Quantity { return resource.MustParse("1Gi") }),
		}}
	case 1:
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: g.name(),
			DefaultMode: maybe(g, 0.3, of(g, int32(420))), Items: g.keys()}}
	case 2:
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: g.reference(),
			Items: g.keys(), Optional: maybe(g, 0.3, of(g, true, false))}}
	case 3:
		return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: pick(g, "/var/log", "/a"),
			Type: maybe(g, 0.5, of(g, corev1.HostPathDirectory, corev1.HostPathUnset))}}
	case 4:
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: g.name(),
			ReadOnly: g.Chance(0.3)}}
	case 5:
		return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: some(g, 1, 3, g.projection),
			DefaultMode: maybe(g, 0.3, of(g, int32(256)))}}
	default:
		return corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: some(g, 0, 2, g.downwardFile)}}
	}
}

func (g *Generator) keys() []corev1.KeyToPath {
	return atTimes(g, 0.3, 1, 2, func(i int) corev1.KeyToPath {
		return corev1.KeyToPath{Key: "a", Path: fmt.Sprintf("a/%d", i), Mode: maybe(g, 0.3, of(g, int32(0o400)))}
	})
}

func (g *Generator) downwardFile(i int) corev1.DownwardAPIVolumeFile {
	file := corev1.DownwardAPIVolumeFile{Path: fmt.Sprintf("d/%d", i), Mode: maybe(g, 0.2, of(g, int32(0o444)))}
	if g.Chance(0.6) {
		file.FieldRef = &corev1.ObjectFieldSelector{APIVersion: pick(g, "", "v1"),
			FieldPath: pick(g, "metadata.labels", "metadata.annotations", "metadata.name", "metadata.labels['a']")}
	} else {
		file.ResourceFieldRef = &corev1.ResourceFieldSelector{ContainerName: "c0",
			Resource: pick(g, "limits.cpu", "requests.memory")}
	}
	return file
}

func (g *Generator) projection(i int) corev1.VolumeProjection {
	switch g.random.IntN(4) {
	case 0:
		return corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: g.reference(), Items: g.keys()}}
	case 1:
		return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: g.reference()}}
	case 2:
		return corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: pick(g, "",
			"vault"), Path: fmt.Sprintf("token%d", i), ExpirationSeconds: maybe(g, 0.5, number[int64](g, 600, 3600))}}
	default:
		return corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{Items: some(g, 0, 2, g.downwardFile)}}
	}
}

// rareVolumeSource returns one of the sources that few pods have.
func (g *Generator) rareVolumeSource() corev1.VolumeSource {
	return pick(g,
		corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nfs.example.com", Path: "/a"}},
		corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "csi.example.com", FSType: maybe(g, 0.3, of(g, "ext4")),
			NodePublishSecretRef: maybe(g, 0.3, of(g, corev1.LocalObjectReference{Name: "s"}))}},
		corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "busybox:1", PullPolicy: pick(g, "", corev1.PullAlways)}},
		corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: maybe(g, 0.5, of(g, "fast")),
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}}},
		corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "pd"}},
		corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol"}},
		corev1.VolumeSource{GitRepo: &corev1.GitRepoVolumeSource{Repository: "https://example.com/a.git", Directory: "a"}},
		corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "1.2.3.4",
			IQN: "iqn.2001-04.com.example:storage.disk1", Lun: 1}},
		corev1.VolumeSource{Glusterfs: &corev1.GlusterfsVolumeSource{EndpointsName: "e", Path: "a"}},
		corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}, RBDImage: "i"}},
		corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{Driver: "example.com/d"}},
		corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: "v"}},
		corev1.VolumeSource{CephFS: &corev1.CephFSVolumeSource{Monitors: []string{"m"}}},
		corev1.VolumeSource{Flocker: &corev1.FlockerVolumeSource{DatasetName: "d"}},
		corev1.VolumeSource{FC: &corev1.FCVolumeSource{TargetWWNs: []string{"w"}, Lun: new(int32(1))}},
		corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "s", ShareName: "s"}},
		corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: "d", DataDiskURI: "https://blob/vhds/d.vhd"}},
		corev1.VolumeSource{VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "[a] b"}},
		corev1.VolumeSource{Quobyte: &corev1.QuobyteVolumeSource{Registry: "r:7861", Volume: "v"}},
		corev1.VolumeSource{PhotonPersistentDisk: &corev1.PhotonPersistentDiskVolumeSource{PdID: "p"}},
		corev1.VolumeSource{PortworxVolume: &corev1.PortworxVolumeSource{VolumeID: "v"}},
		corev1.VolumeSource{ScaleIO: &corev1.ScaleIOVolumeSource{Gateway: "https://g", System: "s", VolumeName: "v",
			SecretRef: &corev1.LocalObjectReference{Name: "s"}}},
		corev1.VolumeSource{StorageOS: &corev1.StorageOSVolumeSource{VolumeName: "v"}},
	)
}
