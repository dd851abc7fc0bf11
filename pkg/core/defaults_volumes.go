package core

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// defaultVolume fills in a volume: an empty directory when no source is named, and the defaults of the source.
func defaultVolume(volume *corev1.Volume) {
	source := &volume.VolumeSource
	if noVolumeSource(source) {
		source.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	if source.Image != nil && source.Image.PullPolicy == "" {
		source.Image.PullPolicy = pullPolicyFor(source.Image.Reference)
	}
	if source.HostPath != nil && source.HostPath.Type == nil {
		source.HostPath.Type = new(corev1.HostPathUnset)
	}
	if source.Secret != nil && source.Secret.DefaultMode == nil {
		source.Secret.DefaultMode = new(corev1.SecretVolumeSourceDefaultMode)
	}
	if source.ConfigMap != nil && source.ConfigMap.DefaultMode == nil {
		source.ConfigMap.DefaultMode = new(corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if source.DownwardAPI != nil {
		if source.DownwardAPI.DefaultMode == nil {
			source.DownwardAPI.DefaultMode = new(corev1.DownwardAPIVolumeSourceDefaultMode)
		}
		defaultDownwardFiles(source.DownwardAPI.Items)
	}
	if source.Projected != nil {
		defaultProjected(source.Projected)
	}
	if source.Ephemeral != nil && source.Ephemeral.VolumeClaimTemplate != nil {
		claim := &source.Ephemeral.VolumeClaimTemplate.Spec
		if claim.VolumeMode == nil {
			claim.VolumeMode = new(corev1.PersistentVolumeFilesystem)
		}
		roundUp(claim.Resources.Limits)
		roundUp(claim.Resources.Requests)
	}
	defaultNetworkDisks(source)
}

func defaultDownwardFiles(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		defaultFieldRef(files[i].FieldRef)
	}
}

func defaultProjected(projected *corev1.ProjectedVolumeSource) {
	if projected.DefaultMode == nil {
		projected.DefaultMode = new(corev1.ProjectedVolumeSourceDefaultMode)
	}
	for i := range projected.Sources {
		source := &projected.Sources[i]
		if source.DownwardAPI != nil {
			defaultDownwardFiles(source.DownwardAPI.Items)
		}
		if token := source.ServiceAccountToken; token != nil && token.ExpirationSeconds == nil {
			token.ExpirationSeconds = new(int64(hourSeconds))
		}
	}
}

// defaultNetworkDisks fills in the volume sources of old in-tree drivers.
func defaultNetworkDisks(source *corev1.VolumeSource) {
	if source.ISCSI != nil {
		setIfEmpty(&source.ISCSI.ISCSIInterface, "default")
	}
	if source.RBD != nil {
		setIfEmpty(&source.RBD.RBDPool, "rbd")
		setIfEmpty(&source.RBD.RadosUser, "admin")
		setIfEmpty(&source.RBD.Keyring, "/etc/ceph/keyring")
	}
	if source.ScaleIO != nil {
		setIfEmpty(&source.ScaleIO.StorageMode, "ThinProvisioned")
		setIfEmpty(&source.ScaleIO.FSType, "xfs")
	}
	if disk := source.AzureDisk; disk != nil {
		setIfNil(&disk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		setIfNil(&disk.FSType, "ext4")
		setIfNil(&disk.ReadOnly, false)
		setIfNil(&disk.Kind, corev1.AzureSharedBlobDisk)
	}
}

func setIfEmpty(at *string, value string) {
	if *at == "" {
		*at = value
	}
}

func setIfNil[T any](at **T, value T) {
	if *at == nil {
		*at = &value
	}
}

// noVolumeSource reports whether no source is named. Each field of VolumeSource is a pointer, in every release so
// far; reflection keeps a source that a later k8s.io/api adds from being overlooked.
func noVolumeSource(source *corev1.VolumeSource) bool {
	for _, kind := range reflect.ValueOf(source).Elem().Fields() {
		if !kind.IsNil() {
			return false
		}
	}
	return true
}
