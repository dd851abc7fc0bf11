package core

import (
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This file holds the rules for the volumes of drivers that were once part of Kubernetes. Most of the drivers are gone;
// the API still checks what it is told of them.

const (
	maxPartition    = 255
	maxUnit         = 255
	badPartition    = "must be between 1 and 255, inclusive" // although 0 is let pass, for the whole disk
	maxTenant       = 64
	badRegistry     = "must be a host:port pair or multiple pairs separated by commas"
	maxISCSIName    = 64
	badISCSIName    = "must be valid format"
	managedDisk     = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	blobDisk        = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	reservedOptions = "kubernetes.io and k8s.io namespaces are reserved"
)

// The three ways to name a party of iSCSI (RFC 3720), as strict as Kubernetes takes them.
var (
	iscsiQualifiedName = regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`)
	iscsiExtendedID    = regexp.MustCompile(`^eui.[[:alnum:]]{16}$`)
	iscsiNetworkID     = regexp.MustCompile(`^naa.[[:alnum:]]{32}$`)
)

func validateGCEDisk(disk *corev1.GCEPersistentDiskVolumeSource, at *field.Path) field.ErrorList {
	return append(requireText(disk.PDName, at.Child("pdName")), validatePartition(disk.Partition, at.Child("partition"))...)
}

func validateAWSDisk(disk *corev1.AWSElasticBlockStoreVolumeSource, at *field.Path) field.ErrorList {
	return append(requireText(disk.VolumeID, at.Child("volumeID")), validatePartition(disk.Partition, at.Child("partition"))...)
}

func validatePartition(partition int32, at *field.Path) field.ErrorList {
	if partition >= 0 && partition <= maxPartition {
		return nil
	}
	return field.ErrorList{field.Invalid(at, partition, badPartition)}
}

func validateUnit(unit int32, at *field.Path) field.ErrorList {
	if unit >= 0 && unit <= maxUnit {
		return nil
	}
	return field.ErrorList{field.Invalid(at, unit, validation.InclusiveRangeError(0, maxUnit))}
}

func validateISCSI(iscsi *corev1.ISCSIVolumeSource, at *field.Path) field.ErrorList {
	errs := append(requireText(iscsi.TargetPortal, at.Child("targetPortal")), requireText(iscsi.IQN, at.Child("iqn"))...)
	if iscsi.IQN != "" {
		errs = append(errs, validateISCSIName(iscsi.IQN, at.Child("iqn"))...)
	}
	errs = append(errs, validateUnit(iscsi.Lun, at.Child("lun"))...)
	if (iscsi.DiscoveryCHAPAuth || iscsi.SessionCHAPAuth) && iscsi.SecretRef == nil {
		errs = append(errs, field.Required(at.Child("secretRef"), ""))
	}
	if iscsi.InitiatorName != nil {
		errs = append(errs, validateISCSIName(*iscsi.InitiatorName, at.Child("initiatorname"))...)
	}
	return errs
}

func validateISCSIName(name string, at *field.Path) field.ErrorList {
	var form *regexp.Regexp
	switch {
	case strings.HasPrefix(name, "iqn"):
		form = iscsiQualifiedName
	case strings.HasPrefix(name, "eui"):
		form = iscsiExtendedID
	case strings.HasPrefix(name, "naa"):
		form = iscsiNetworkID
	default:
		return field.ErrorList{field.Invalid(at, name, badISCSIName+" starting with iqn, eui, or naa")}
	}
	if form.MatchString(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, badISCSIName)}
}

// validateISCSIVolumeName keeps short what the driver makes a name of. It holds for a second source of a volume too.
func validateISCSIVolumeName(volume *corev1.Volume, path *field.Path) field.ErrorList {
	iscsi := volume.ISCSI
	if iscsi == nil || iscsi.InitiatorName == nil || len(volume.Name+":"+iscsi.TargetPortal) <= maxISCSIName {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("name"), volume.Name,
		fmt.Sprintf("Total length of <volume name>:<iscsi.targetPortal> must be under %d characters if iscsi.initiatorName is specified.", maxISCSIName))}
}

func validateGlusterfs(volume *corev1.GlusterfsVolumeSource, at *field.Path) field.ErrorList {
	return append(requireText(volume.EndpointsName, at.Child("endpoints")), requireText(volume.Path, at.Child("path"))...)
}

func validateFlocker(volume *corev1.FlockerVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch named, identified := volume.DatasetName != "", volume.DatasetUUID != ""; {
	case !named && !identified:
		errs = append(errs, field.Required(at, "one of datasetName and datasetUUID is required"))
	case named && identified:
		errs = append(errs, field.Invalid(at, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(volume.DatasetName, "/") {
		errs = append(errs, field.Invalid(at.Child("datasetName"), volume.DatasetName, "must not contain '/'"))
	}
	return errs
}

func validateRBD(volume *corev1.RBDVolumeSource, at *field.Path) field.ErrorList {
	return append(requireSome(volume.CephMonitors, at.Child("monitors")), requireText(volume.RBDImage, at.Child("image"))...)
}

func validateCinder(volume *corev1.CinderVolumeSource, at *field.Path) field.ErrorList {
	return append(requireText(volume.VolumeID, at.Child("volumeID")), validateSecretRef(volume.SecretRef, at)...)
}

func validateSecretRef(secret *corev1.LocalObjectReference, at *field.Path) field.ErrorList {
	if secret == nil {
		return nil
	}
	return requireText(secret.Name, at.Child("secretRef", "name"))
}

func validateQuobyte(volume *corev1.QuobyteVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	registryPath := at.Child("registry")
	switch {
	case volume.Registry == "":
		errs = append(errs, field.Required(registryPath, badRegistry))
	case len(volume.Tenant) > maxTenant:
		errs = append(errs, field.Required(at.Child("tenant"), fmt.Sprintf("must be a UUID and may not exceed a length of %d characters", maxTenant)))
	default:
		for pair := range strings.SplitSeq(volume.Registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				errs = append(errs, field.Invalid(registryPath, volume.Registry, badRegistry))
			}
		}
	}
	return append(errs, requireText(volume.Volume, at.Child("volume"))...)
}

func validateFC(volume *corev1.FCVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	namesPath := at.Child("targetWWNs")
	switch named, identified := len(volume.TargetWWNs) > 0, len(volume.WWIDs) > 0; {
	case !named && !identified:
		return field.ErrorList{field.Required(namesPath, "must specify either targetWWNs or wwids, but not both")}
	case !named:
		return nil
	case identified:
		errs = append(errs, field.Invalid(namesPath, volume.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously"))
	}
	if volume.Lun == nil {
		return append(errs, field.Required(at.Child("lun"), "lun is required if targetWWNs is specified"))
	}
	return append(errs, validateUnit(*volume.Lun, at.Child("lun"))...)
}

func validateFlex(volume *corev1.FlexVolumeSource, at *field.Path) field.ErrorList {
	errs := requireText(volume.Driver, at.Child("driver"))
	for _, key := range slices.Sorted(maps.Keys(volume.Options)) {
		domain, _, _ := strings.Cut(key, "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			errs = append(errs, field.Invalid(at.Child("options").Key(key), key, reservedOptions))
		}
	}
	return errs
}

func validateAzureFile(file *corev1.AzureFileVolumeSource, at *field.Path) field.ErrorList {
	return append(requireText(file.SecretName, at.Child("secretName")), requireText(file.ShareName, at.Child("shareName"))...)
}

func validateAzureDisk(disk *corev1.AzureDiskVolumeSource, at *field.Path) field.ErrorList {
	errs := append(requireText(disk.DiskName, at.Child("diskName")), requireText(disk.DataDiskURI, at.Child("diskURI"))...)
	if disk.CachingMode != nil {
		errs = append(errs, oneOf(*disk.CachingMode, []corev1.AzureDataDiskCachingMode{
			corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite,
		}, at.Child("cachingMode"))...)
	}
	if disk.Kind == nil {
		return errs
	}
	errs = append(errs, oneOf(*disk.Kind, []corev1.AzureDataDiskKind{
		corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk,
	}, at.Child("kind"))...)
	prefix, form := "https://", blobDisk
	if *disk.Kind == corev1.AzureManagedDisk {
		prefix, form = "/subscriptions/", managedDisk
	}
	if !strings.HasPrefix(disk.DataDiskURI, prefix) {
		errs = append(errs, field.NotSupported(at.Child("diskURI"), disk.DataDiskURI, []string{form}))
	}
	return errs
}

func validateStorageOS(volume *corev1.StorageOSVolumeSource, at *field.Path) field.ErrorList {
	errs := requireText(volume.VolumeName, at.Child("volumeName"))
	if volume.VolumeName != "" {
		errs = append(errs, invalidEach(at.Child("volumeName"), volume.VolumeName, validation.IsDNS1123Label(volume.VolumeName))...)
	}
	if namespace := volume.VolumeNamespace; namespace != "" {
		errs = append(errs, invalidEach(at.Child("volumeNamespace"), namespace, validation.IsDNS1123Label(namespace))...)
	}
	return append(errs, validateSecretRef(volume.SecretRef, at)...)
}

func validateScaleIO(volume *corev1.ScaleIOVolumeSource, at *field.Path) field.ErrorList {
	errs := append(requireText(volume.Gateway, at.Child("gateway")), requireText(volume.System, at.Child("system"))...)
	return append(errs, requireText(volume.VolumeName, at.Child("volumeName"))...)
}

func requireSome(values []string, at *field.Path) field.ErrorList {
	if len(values) > 0 {
		return nil
	}
	return field.ErrorList{field.Required(at, "")}
}
