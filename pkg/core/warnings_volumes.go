package core

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// volumes warns of drivers that are gone or going.
func (w *warner) volumes() {
	for i := range w.spec.Volumes {
		v, at := &w.spec.Volumes[i], w.path.Child("spec", "volumes").Index(i)
		for _, old := range []struct {
			set        bool
			name, when string
		}{
			{v.PhotonPersistentDisk != nil, "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
			{v.GitRepo != nil, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
			{v.ScaleIO != nil, "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
			{v.Flocker != nil, "flocker", "deprecated in v1.22, non-functional in v1.25+"},
			{v.StorageOS != nil, "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
			{v.Quobyte != nil, "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
			{v.Glusterfs != nil, "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
		} {
			if old.set {
				w.add(at.Child(old.name), "%s", old.when)
			}
		}
		if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
			resources := &v.Ephemeral.VolumeClaimTemplate.Spec.Resources
			resourcesPath := at.Child("ephemeral", "volumeClaimTemplate", "spec", "resources")
			w.fractions(resources.Requests, corev1.ResourceStorage, resourcesPath.Child("requests"))
			w.fractions(resources.Limits, corev1.ResourceStorage, resourcesPath.Child("limits"))
		}
		if v.CephFS != nil {
			w.add(at.Child("cephfs"), "deprecated in v1.28, non-functional in v1.31+")
		}
		if v.RBD != nil {
			w.add(at.Child("rbd"), "deprecated in v1.28, non-functional in v1.31+")
		}
	}
}

// placedFile is a file of a volume and what brings it.
type placedFile struct{ path, source string }

func (f placedFile) String() string {
	if f.source == "" {
		return fmt.Sprintf("%q", f.path)
	}
	return fmt.Sprintf("%q (%s)", f.path, f.source)
}

// overlappingFiles warns of volumes in which one file is to stand where another one, or its directory, does.
func (w *warner) overlappingFiles() {
	for i := range w.spec.Volumes {
		v := &w.spec.Volumes[i]
		if v.ConfigMap != nil {
			w.overlaps(v.Name, fmt.Sprintf("ConfigMap %q", v.ConfigMap.Name), itemFiles(v.ConfigMap.Items, ""))
		}
		if v.Secret != nil {
			w.overlaps(v.Name, fmt.Sprintf("Secret %q", v.Secret.SecretName), itemFiles(v.Secret.Items, ""))
		}
		if v.DownwardAPI != nil {
			w.overlaps(v.Name, "DownwardAPI", downwardFiles(v.DownwardAPI.Items, ""))
		}
		if v.Projected == nil {
			continue
		}
		var files []placedFile
		for j := range v.Projected.Sources {
			source := &v.Projected.Sources[j]
			if *source == (corev1.VolumeProjection{}) {
				w.list = append(w.list, fmt.Sprintf("volume %q (Projected) has no sources provided", v.Name))
			}
			files = append(files, projectedFiles(source)...)
		}
		w.overlaps(v.Name, "Projected", files)
	}
}

func (w *warner) overlaps(volume, kind string, files []placedFile) {
	for i := range files {
		files[i].path = strings.TrimRight(files[i].path, "/")
		for _, before := range files[:i] {
			if overlap(before.path, files[i].path) {
				w.list = append(w.list, fmt.Sprintf("volume %q (%s): overlapping paths: %s with %s", volume, kind, files[i], before))
			}
		}
	}
}

// overlap reports whether two paths are the same, or one leads through the other.
func overlap(a, b string) bool {
	return a != "" && b != "" && (strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/"))
}

func itemFiles(items []corev1.KeyToPath, source string) []placedFile {
	files := make([]placedFile, 0, len(items))
	for i := range items {
		files = append(files, placedFile{items[i].Path, source})
	}
	return files
}

func downwardFiles(items []corev1.DownwardAPIVolumeFile, source string) []placedFile {
	files := make([]placedFile, 0, len(items))
	for i := range items {
		files = append(files, placedFile{items[i].Path, source})
	}
	return files
}

func projectedFiles(source *corev1.VolumeProjection) []placedFile {
	switch {
	case source.ConfigMap != nil && source.ConfigMap.Items != nil:
		return itemFiles(source.ConfigMap.Items, fmt.Sprintf("ConfigMap %q", source.ConfigMap.Name))
	case source.Secret != nil && source.Secret.Items != nil:
		return itemFiles(source.Secret.Items, fmt.Sprintf("Secret %q", source.Secret.Name))
	case source.DownwardAPI != nil && source.DownwardAPI.Items != nil:
		return downwardFiles(source.DownwardAPI.Items, "DownwardAPI")
	case source.ServiceAccountToken != nil:
		return []placedFile{{source.ServiceAccountToken.Path, "ServiceAccountToken"}}
	}
	return nil
}
