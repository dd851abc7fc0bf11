package plain

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	common "github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// accessModes are the ways in which volumes can be mounted, with their short names in order.
var accessModes = []struct {
	mode  corev1.PersistentVolumeAccessMode
	short string
}{
	{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"},
}

// modes lists access modes in short.
func modes(of []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, known := range accessModes {
		if slices.Contains(of, known.mode) {
			short = append(short, known.short)
		}
	}
	return strings.Join(short, ",")
}

// storageClass returns the class in a field or, before that, in the annotation of old.
func storageClass(of *metav1.ObjectMeta, name *string) string {
	if old, found := of.Annotations[corev1.BetaStorageClassAnnotation]; found {
		return old
	}
	return valueOr(name, "")
}

// phaseOf returns a phase as tables have it.
func phaseOf(of *metav1.ObjectMeta, phase string) string {
	if of.DeletionTimestamp != nil {
		return "Terminating"
	}
	return phase
}

func persistentVolumeClaims() row {
	spec, doc := corev1.PersistentVolumeClaimSpec{}.SwaggerDoc(), corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()
	return &kind[corev1.PersistentVolumeClaim]{
		version: corev1.SchemeGroupVersion, plural: "persistentvolumeclaims", singular: "persistentvolumeclaim",
		short: []string{"pvc"}, list: &corev1.PersistentVolumeClaimList{},
		returnDeleted: true,
		prepareCreate: func(c *corev1.PersistentVolumeClaim) {
			c.Status.Phase = corev1.ClaimPending
			alignDataSources(&c.Spec)
		},
		prepareUpdate: func(changed, _ *corev1.PersistentVolumeClaim) { alignDataSources(&changed.Spec) },
		validate: func(c *corev1.PersistentVolumeClaim) field.ErrorList {
			return validateClaimSpec(&c.Spec, field.NewPath("spec"))
		},
		validateUpdate: validateClaimChange,
		status: &status[corev1.PersistentVolumeClaim]{validate: func(changed, _ *corev1.PersistentVolumeClaim) field.ErrorList {
			return nonNegativeQuantities(changed.Status.Capacity, field.NewPath("status", "capacity"))
		}},
		columns: columns([]metav1.TableColumnDefinition{
			common.Column("Status", doc["phase"]), common.Column("Volume", spec["volumeName"]),
			common.Column("Capacity", doc["capacity"]), common.Column("Access Modes", doc["accessModes"]),
			common.Column("StorageClass", "StorageClass of the pvc"), common.Column("VolumeAttributesClass", "VolumeAttributesClass of the pvc"),
			common.AgeColumn(), common.WideColumn("VolumeMode", spec["volumeMode"]),
		}),
		cells: func(now clock.PassiveClock, c *corev1.PersistentVolumeClaim) []any {
			capacity, access := "", ""
			if c.Spec.VolumeName != "" {
				capacity, access = c.Status.Capacity.Storage().String(), modes(c.Status.AccessModes)
			}
			return []any{
				c.Name, phaseOf(&c.ObjectMeta, string(c.Status.Phase)), c.Spec.VolumeName, capacity, access,
				storageClass(&c.ObjectMeta, c.Spec.StorageClassName), valueOr(c.Spec.VolumeAttributesClassName, "<unset>"),
				age(now, &c.ObjectMeta), valueOr(c.Spec.VolumeMode, "<unset>"),
			}
		},
	}
}

// alignDataSources keeps the two fields that name what a volume begins with alike (KEP-1495).
func alignDataSources(spec *corev1.PersistentVolumeClaimSpec) {
	switch from, ref := spec.DataSource, spec.DataSourceRef; {
	case from != nil && ref == nil:
		spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: from.APIGroup, Kind: from.Kind, Name: from.Name}
	case from == nil && ref != nil && valueOr(ref.Namespace, "") == "":
		spec.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
}

func validateClaimSpec(spec *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(spec.AccessModes) == 0 {
		errs = append(errs, field.Required(path.Child("accessModes"), "at least 1 access mode is required"))
	}
	errs = append(errs, selector(spec.Selector, path.Child("selector"))...)
	errs = append(errs, validateAccessModes(spec.AccessModes, path.Child("accessModes"))...)
	at := path.Child("resources").Key(string(corev1.ResourceStorage))
	if size, found := spec.Resources.Requests[corev1.ResourceStorage]; !found {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, positive(size, at)...)
	}
	if name := valueOr(spec.StorageClassName, ""); name != "" {
		errs = append(errs, dnsSubdomain(name, path.Child("storageClassName"))...)
	}
	if spec.VolumeMode != nil {
		errs = append(errs, oneOf(*spec.VolumeMode, path.Child("volumeMode"), corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)...)
	}
	if name := valueOr(spec.VolumeAttributesClassName, ""); name != "" {
		errs = append(errs, dnsSubdomain(name, path.Child("volumeAttributesClassName"))...)
	}
	return errs
}

func validateAccessModes(given []corev1.PersistentVolumeAccessMode, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	one, others := false, false
	for _, mode := range given {
		unknown := oneOf(mode, path, corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod)
		errs = append(errs, unknown...)
		one = one || mode == corev1.ReadWriteOncePod
		others = others || (mode != corev1.ReadWriteOncePod && len(unknown) == 0)
	}
	if one && others {
		errs = append(errs, field.Forbidden(path, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

// positive wants a quantity above zero.
func positive(quantity resource.Quantity, path *field.Path) field.ErrorList {
	if quantity.Sign() > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, quantity.String(), "must be greater than zero")}
}

// validateClaimChange lets a claim be bound, and a bound one grow; all else stays.
func validateClaimChange(changed, stored *corev1.PersistentVolumeClaim) field.ErrorList {
	var errs field.ErrorList
	before, after := stored.Spec.DeepCopy(), changed.Spec.DeepCopy()
	if before.VolumeName == "" {
		before.VolumeName = after.VolumeName
	}
	if before.StorageClassName == nil && stored.Annotations[corev1.BetaStorageClassAnnotation] == "" {
		before.StorageClassName = after.StorageClassName // defaults may come late (KEP-3333)
	}
	if changed.Status.Phase == corev1.ClaimBound {
		before.VolumeAttributesClassName = after.VolumeAttributesClassName
		if before.Resources.Requests != nil && after.Resources.Requests != nil {
			before.Resources.Requests[corev1.ResourceStorage] = after.Resources.Requests[corev1.ResourceStorage]
		}
	}
	alignDataSources(before)
	if !same(before, after) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"),
			"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+diff.Diff(before, after)))
	}
	size, old := changed.Spec.Resources.Requests.Storage(), stored.Spec.Resources.Requests.Storage()
	if size.Cmp(*old) < 0 && size.Cmp(*stored.Status.Capacity.Storage()) <= 0 {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "resources", "requests", "storage"), "field can not be less than status.capacity"))
	}
	return append(errs, immutable(changed.Spec.VolumeMode, stored.Spec.VolumeMode, field.NewPath("volumeMode"))...)
}

func persistentVolumes(now clock.PassiveClock) row {
	spec, doc := corev1.PersistentVolumeSpec{}.SwaggerDoc(), corev1.PersistentVolumeStatus{}.SwaggerDoc()
	return &kind[corev1.PersistentVolume]{
		version: corev1.SchemeGroupVersion, plural: "persistentvolumes", singular: "persistentvolume",
		short: []string{"pv"}, list: &corev1.PersistentVolumeList{},
		clusterScoped: true, returnDeleted: true,
		prepareCreate: func(v *corev1.PersistentVolume) {
			v.Status.Phase = corev1.VolumePending
			v.Status.LastPhaseTransitionTime = &metav1.Time{Time: now.Now()}
		},
		validate: validateVolume,
		validateUpdate: func(changed, stored *corev1.PersistentVolume) field.ErrorList {
			if !same(changed.Spec.PersistentVolumeSource, stored.Spec.PersistentVolumeSource) {
				return field.ErrorList{field.Forbidden(field.NewPath("spec", "persistentvolumesource"),
					"spec.persistentvolumesource is immutable after creation\n"+diff.Diff(stored.Spec.PersistentVolumeSource, changed.Spec.PersistentVolumeSource))}
			}
			return immutable(changed.Spec.VolumeMode, stored.Spec.VolumeMode, field.NewPath("volumeMode"))
		},
		status: &status[corev1.PersistentVolume]{prepare: func(changed, stored *corev1.PersistentVolume) {
			after, before := &changed.Status, &stored.Status
			switch given := after.LastPhaseTransitionTime; {
			case after.Phase == before.Phase && given == nil:
				after.LastPhaseTransitionTime = before.LastPhaseTransitionTime
			case after.Phase != before.Phase && (given == nil || given.Equal(before.LastPhaseTransitionTime)):
				after.LastPhaseTransitionTime = &metav1.Time{Time: now.Now()}
			}
		}},
		columns: columns([]metav1.TableColumnDefinition{
			common.Column("Capacity", spec["capacity"]), common.Column("Access Modes", spec["accessModes"]),
			common.Column("Reclaim Policy", spec["persistentVolumeReclaimPolicy"]), common.Column("Status", doc["phase"]),
			common.Column("Claim", spec["claimRef"]), common.Column("StorageClass", "StorageClass of the pv"),
			common.Column("VolumeAttributesClass", "VolumeAttributesClass of the pv"), common.Column("Reason", doc["reason"]),
			common.AgeColumn(), common.WideColumn("VolumeMode", spec["volumeMode"]),
		}),
		cells: func(now clock.PassiveClock, v *corev1.PersistentVolume) []any {
			claim := ""
			if ref := v.Spec.ClaimRef; ref != nil {
				claim = ref.Namespace + "/" + ref.Name
			}
			return []any{
				v.Name, v.Spec.Capacity.Storage().String(), modes(v.Spec.AccessModes), string(v.Spec.PersistentVolumeReclaimPolicy),
				phaseOf(&v.ObjectMeta, string(v.Status.Phase)), claim, storageClass(&v.ObjectMeta, &v.Spec.StorageClassName),
				valueOr(v.Spec.VolumeAttributesClassName, "<unset>"), v.Status.Reason, age(now, &v.ObjectMeta), valueOr(v.Spec.VolumeMode, "<unset>"),
			}
		},
	}
}

func validateVolume(v *corev1.PersistentVolume) field.ErrorList {
	path, spec := field.NewPath("spec"), &v.Spec
	var errs field.ErrorList
	if len(spec.AccessModes) == 0 {
		errs = append(errs, field.Required(path.Child("accessModes"), ""))
	}
	errs = append(errs, validateAccessModes(spec.AccessModes, path.Child("accessModes"))...)
	if len(spec.Capacity) == 0 {
		errs = append(errs, field.Required(path.Child("capacity"), ""))
	}
	if _, found := spec.Capacity[corev1.ResourceStorage]; !found || len(spec.Capacity) > 1 {
		errs = append(errs, field.NotSupported(path.Child("capacity"), spec.Capacity, []string{string(corev1.ResourceStorage)}))
	}
	for name, quantity := range spec.Capacity {
		errs = append(errs, positive(quantity, path.Child("capacity").Key(string(name)))...)
	}
	if policy := spec.PersistentVolumeReclaimPolicy; policy != "" {
		errs = append(errs, oneOf(policy, path.Child("persistentVolumeReclaimPolicy"), corev1.PersistentVolumeReclaimDelete,
			corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)...)
	}
	if same(spec.PersistentVolumeSource, corev1.PersistentVolumeSource{}) {
		errs = append(errs, field.Required(path, "must specify a volume type"))
	}
	if spec.StorageClassName != "" {
		errs = append(errs, dnsSubdomain(spec.StorageClassName, path.Child("storageClassName"))...)
	}
	if spec.VolumeMode != nil {
		errs = append(errs, oneOf(*spec.VolumeMode, path.Child("volumeMode"), corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)...)
	}
	return errs
}

// defaultClass is the annotation of the storage class, or the ingress class, that is taken when none is named.
const (
	defaultStorageClass    = "storageclass.kubernetes.io/is-default-class"
	oldDefaultStorageClass = "storageclass.beta.kubernetes.io/is-default-class"
)

func storageClasses() row {
	doc := storagev1.StorageClass{}.SwaggerDoc()
	return &kind[storagev1.StorageClass]{
		version: storagev1.SchemeGroupVersion, plural: "storageclasses", singular: "storageclass",
		short: []string{"sc"}, list: &storagev1.StorageClassList{},
		clusterScoped: true, returnDeleted: true,
		validate: validateStorageClass,
		validateUpdate: func(changed, stored *storagev1.StorageClass) field.ErrorList {
			errs := immutable(changed.Parameters, stored.Parameters, field.NewPath("parameters"))
			errs = append(errs, immutable(changed.Provisioner, stored.Provisioner, field.NewPath("provisioner"))...)
			errs = append(errs, immutable(changed.ReclaimPolicy, stored.ReclaimPolicy, field.NewPath("reclaimPolicy"))...)
			return append(errs, immutable(changed.VolumeBindingMode, stored.VolumeBindingMode, field.NewPath("volumeBindingMode"))...)
		},
		columns: columns([]metav1.TableColumnDefinition{
			common.Column("Provisioner", doc["provisioner"]), common.Column("ReclaimPolicy", doc["reclaimPolicy"]),
			common.Column("VolumeBindingMode", doc["volumeBindingMode"]), common.Column("AllowVolumeExpansion", doc["allowVolumeExpansion"]),
			common.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, c *storagev1.StorageClass) []any {
			name := c.Name
			if c.Annotations[defaultStorageClass] == "true" || c.Annotations[oldDefaultStorageClass] == "true" {
				name += " (default)"
			}
			return []any{
				name, c.Provisioner, valueOr(c.ReclaimPolicy, string(corev1.PersistentVolumeReclaimDelete)),
				valueOr(c.VolumeBindingMode, string(storagev1.VolumeBindingImmediate)),
				c.AllowVolumeExpansion != nil && *c.AllowVolumeExpansion, age(now, &c.ObjectMeta),
			}
		},
	}
}

func validateStorageClass(c *storagev1.StorageClass) field.ErrorList {
	var errs field.ErrorList
	if path := field.NewPath("provisioner"); c.Provisioner == "" {
		errs = append(errs, field.Required(path, ""))
	} else {
		name := strings.ToLower(c.Provisioner)
		errs = append(errs, invalid(name, path, validation.IsQualifiedName(name))...)
	}
	if _, nameless := c.Parameters[""]; nameless {
		errs = append(errs, field.Invalid(field.NewPath("parameters"), "", "field can not be empty."))
	}
	if policy := c.ReclaimPolicy; policy != nil && *policy != "" {
		errs = append(errs, oneOf(*policy, field.NewPath("reclaimPolicy"), corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)...)
	}
	path := field.NewPath("volumeBindingMode")
	if c.VolumeBindingMode == nil {
		return append(errs, field.Required(path, ""))
	}
	return append(errs, oneOf(*c.VolumeBindingMode, path, storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)...)
}
