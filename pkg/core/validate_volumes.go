package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podVolumes checks spec.volumes and notes the valid ones, which containers may mount.
func (c *specCheck) podVolumes(path *field.Path) field.ErrorList {
	c.volumes = make(map[string]*corev1.VolumeSource, len(c.spec.Volumes))
	created := c.createdClaims()
	var errs field.ErrorList
	for i := range c.spec.Volumes {
		volume, at := &c.spec.Volumes[i], path.Index(i)
		faults := c.volumeSource(volume, at)
		if volume.Name == "" {
			faults = append(faults, field.Required(at.Child("name"), ""))
		} else {
			faults = append(faults, invalidEach(at.Child("name"), volume.Name, validation.IsDNS1123Label(volume.Name))...)
		}
		if _, taken := c.volumes[volume.Name]; taken {
			faults = append(faults, field.Duplicate(at.Child("name"), volume.Name))
		}
		if len(faults) == 0 {
			c.volumes[volume.Name] = &volume.VolumeSource
		}
		errs = append(errs, faults...)
		if claim := volume.PersistentVolumeClaim; claim != nil && created.Has(claim.ClaimName) {
			errs = append(errs, field.Invalid(at.Child("persistentVolumeClaim", "claimName"), claim.ClaimName,
				"must not reference a PVC that gets created for an ephemeral volume"))
		}
	}
	return errs
}

// createdClaims are the names of the claims that will be made for the ephemeral volumes of a pod, if its name is known.
func (c *specCheck) createdClaims() sets.Set[string] {
	created := sets.New[string]()
	if !c.isPod() || c.pod.Name == "" {
		return created
	}
	for i := range c.spec.Volumes {
		if c.spec.Volumes[i].Ephemeral != nil {
			created.Insert(c.pod.Name + "-" + c.spec.Volumes[i].Name)
		}
	}
	return created
}

// source is one kind of volume: whether it is named, where the API says that it is one too many, and its own rules.
type source struct {
	set      bool
	name     string
	validate func() field.ErrorList
}

// volumeSource checks that a volume has exactly one source, and that source. The order of the kinds decides which of
// two is the one too many.
func (c *specCheck) volumeSource(volume *corev1.Volume, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	given := 0
	for _, kind := range c.sources(volume, path) {
		if !kind.set {
			continue
		}
		given++
		switch {
		case given > 1:
			errs = append(errs, field.Forbidden(path.Child(kind.name), "may not specify more than 1 volume type"))
		default:
			errs = append(errs, kind.validate()...)
		}
		if kind.name == "iscsi" {
			errs = append(errs, validateISCSIVolumeName(volume, path)...)
		}
	}
	if given == 0 {
		errs = append(errs, field.Required(path, "must specify a volume type"))
	}
	return errs
}

func (c *specCheck) sources(volume *corev1.Volume, path *field.Path) []source {
	v := &volume.VolumeSource
	return []source{
		{v.EmptyDir != nil, "emptyDir", func() field.ErrorList { return validateEmptyDir(v.EmptyDir, path.Child("emptyDir")) }},
		{v.HostPath != nil, "hostPath", func() field.ErrorList { return validateHostPath(v.HostPath, path.Child("hostPath")) }},
		{v.GitRepo != nil, "gitRepo", func() field.ErrorList { return validateGitRepo(v.GitRepo, path.Child("gitRepo")) }},
		{v.GCEPersistentDisk != nil, "gcePersistentDisk", func() field.ErrorList {
			return validateGCEDisk(v.GCEPersistentDisk, path.Child("persistentDisk"))
		}},
		{v.AWSElasticBlockStore != nil, "awsElasticBlockStore", func() field.ErrorList {
			return validateAWSDisk(v.AWSElasticBlockStore, path.Child("awsElasticBlockStore"))
		}},
		{v.Secret != nil, "secret", func() field.ErrorList {
			return validateFiles("secretName", v.Secret.SecretName, v.Secret.DefaultMode, v.Secret.Items, path.Child("secret"))
		}},
		{v.NFS != nil, "nfs", func() field.ErrorList { return validateNFS(v.NFS, path.Child("nfs")) }},
		{v.ISCSI != nil, "iscsi", func() field.ErrorList { return validateISCSI(v.ISCSI, path.Child("iscsi")) }},
		{v.Glusterfs != nil, "glusterfs", func() field.ErrorList {
			return validateGlusterfs(v.Glusterfs, path.Child("glusterfs"))
		}},
		{v.Flocker != nil, "flocker", func() field.ErrorList { return validateFlocker(v.Flocker, path.Child("flocker")) }},
		{v.PersistentVolumeClaim != nil, "persistentVolumeClaim", func() field.ErrorList {
			return requireText(v.PersistentVolumeClaim.ClaimName, path.Child("persistentVolumeClaim", "claimName"))
		}},
		{v.RBD != nil, "rbd", func() field.ErrorList { return validateRBD(v.RBD, path.Child("rbd")) }},
		{v.Cinder != nil, "cinder", func() field.ErrorList { return validateCinder(v.Cinder, path.Child("cinder")) }},
		{v.CephFS != nil, "cephFS", func() field.ErrorList {
			return requireSome(v.CephFS.Monitors, path.Child("cephfs", "monitors"))
		}},
		{v.Quobyte != nil, "quobyte", func() field.ErrorList { return validateQuobyte(v.Quobyte, path.Child("quobyte")) }},
		// The path of a second source is misspelt in Kubernetes.
		{v.DownwardAPI != nil, "downwarAPI", func() field.ErrorList {
			return validateDownwardAPI(v.DownwardAPI, path.Child("downwardAPI"))
		}},
		{v.FC != nil, "fc", func() field.ErrorList { return validateFC(v.FC, path.Child("fc")) }},
		{v.FlexVolume != nil, "flexVolume", func() field.ErrorList {
			return validateFlex(v.FlexVolume, path.Child("flexVolume"))
		}},
		{v.ConfigMap != nil, "configMap", func() field.ErrorList {
			return validateFiles("name", v.ConfigMap.Name, v.ConfigMap.DefaultMode, v.ConfigMap.Items, path.Child("configMap"))
		}},
		{v.AzureFile != nil, "azureFile", func() field.ErrorList {
			return validateAzureFile(v.AzureFile, path.Child("azureFile"))
		}},
		{v.VsphereVolume != nil, "vsphereVolume", func() field.ErrorList {
			return requireText(v.VsphereVolume.VolumePath, path.Child("vsphereVolume", "volumePath"))
		}},
		{v.PhotonPersistentDisk != nil, "photonPersistentDisk", func() field.ErrorList {
			return requireText(v.PhotonPersistentDisk.PdID, path.Child("photonPersistentDisk", "pdID"))
		}},
		{v.PortworxVolume != nil, "portworxVolume", func() field.ErrorList {
			return requireText(v.PortworxVolume.VolumeID, path.Child("portworxVolume", "volumeID"))
		}},
		{v.AzureDisk != nil, "azureDisk", func() field.ErrorList {
			return validateAzureDisk(v.AzureDisk, path.Child("azureDisk"))
		}},
		{v.StorageOS != nil, "storageos", func() field.ErrorList {
			return validateStorageOS(v.StorageOS, path.Child("storageos"))
		}},
		{v.Projected != nil, "projected", func() field.ErrorList { return c.projected(v.Projected, path.Child("projected")) }},
		{v.ScaleIO != nil, "scaleIO", func() field.ErrorList { return validateScaleIO(v.ScaleIO, path.Child("scaleIO")) }},
		{v.CSI != nil, "csi", func() field.ErrorList { return validateCSI(v.CSI, path.Child("csi")) }},
		{v.Ephemeral != nil, "ephemeral", func() field.ErrorList { return c.ephemeralVolume(volume, path) }},
		{v.Image != nil, "image", func() field.ErrorList { return c.imageVolume(v.Image, path.Child("image")) }},
	}
}

// ephemeralVolume checks the template of the claim that is made for a pod, and the claim's name.
func (c *specCheck) ephemeralVolume(volume *corev1.Volume, path *field.Path) field.ErrorList {
	errs := validateEphemeralVolume(volume.Ephemeral, path.Child("ephemeral"))
	if !c.isPod() || c.pod.Name == "" || volume.Name == "" {
		return errs
	}
	claim := c.pod.Name + "-" + volume.Name
	for _, detail := range apivalidation.NameIsDNSSubdomain(claim, false) {
		errs = append(errs, field.Invalid(path.Child("name"), volume.Name, fmt.Sprintf("PVC name %q: %v", claim, detail)))
	}
	return errs
}

// imageVolume checks a volume made of an image (KEP-4639). A template may leave its reference to those who make pods.
func (c *specCheck) imageVolume(image *corev1.ImageVolumeSource, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.isPod() {
		errs = requireText(image.Reference, path.Child("reference"))
	}
	return append(errs, validatePullPolicy(image.PullPolicy, path.Child("pullPolicy"))...)
}

func requireText(value string, path *field.Path) field.ErrorList {
	if value != "" {
		return nil
	}
	return field.ErrorList{field.Required(path, "")}
}
