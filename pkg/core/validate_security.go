package core

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxSysctlName          = 253
	maxAppArmorProfileName = 4095
)

var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// podSecurity checks the security context of the pod as a whole.
func (c *specCheck) podSecurity(path *field.Path) field.ErrorList {
	security := c.spec.SecurityContext
	if security == nil {
		security = &corev1.PodSecurityContext{}
	}
	var errs field.ErrorList
	errs = append(errs, validID(security.FSGroup, validation.IsValidGroupID, path.Child("fsGroup"))...)
	errs = append(errs, validID(security.RunAsUser, validation.IsValidUserID, path.Child("runAsUser"))...)
	errs = append(errs, validID(security.RunAsGroup, validation.IsValidGroupID, path.Child("runAsGroup"))...)
	for i := range security.SupplementalGroups {
		errs = append(errs, validID(&security.SupplementalGroups[i], validation.IsValidGroupID, path.Child("supplementalGroups").Index(i))...)
	}
	if share := c.spec.ShareProcessNamespace; share != nil && *share && c.spec.HostPID {
		errs = append(errs, field.Invalid(path.Child("shareProcessNamespace"), *share, "ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	errs = append(errs, c.sysctls(security.Sysctls, path.Child("sysctls"))...)
	if policy := security.FSGroupChangePolicy; policy != nil {
		errs = append(errs, oneOf(*policy,
			[]corev1.PodFSGroupChangePolicy{corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch}, path.Child("fsGroupChangePolicy"))...)
	}
	errs = append(errs, validateSeccomp(security.SeccompProfile, path.Child("seccompProfile"))...)
	errs = append(errs, validateWindowsOptions(security.WindowsOptions, path.Child("windowsOptions"))...)
	errs = append(errs, validateAppArmor(security.AppArmorProfile, path.Child("appArmorProfile"))...)
	if policy := security.SupplementalGroupsPolicy; policy != nil {
		errs = append(errs, oneOf(*policy, []corev1.SupplementalGroupsPolicy{
			corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict,
		}, path.Child("supplementalGroupsPolicy"))...)
	}
	if policy := security.SELinuxChangePolicy; policy != nil {
		// MountOption is behind the gate SELinuxMount, which is off.
		supported := []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyRecursive}
		if c.anySELinuxChange {
			supported = []corev1.PodSELinuxChangePolicy{corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive}
		}
		errs = append(errs, oneOf(*policy, supported, path.Child("seLinuxChangePolicy"))...)
	}
	return errs
}

func validID(id *int64, rule func(int64) []string, path *field.Path) field.ErrorList {
	if id == nil {
		return nil
	}
	return invalidEach(path, *id, rule(*id))
}

func (c *specCheck) sysctls(sysctls []corev1.Sysctl, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, sysctl := range sysctls {
		at := path.Index(i).Child("name")
		switch {
		case sysctl.Name == "":
			errs = append(errs, field.Required(at, ""))
		case len(sysctl.Name) > maxSysctlName || !sysctlName.MatchString(sysctl.Name):
			errs = append(errs, field.Invalid(at, sysctl.Name, fmt.Sprintf("must have at most %d characters and match regex %s", maxSysctlName, sysctlName)))
		case seen.Has(sysctl.Name):
			errs = append(errs, field.Duplicate(at, sysctl.Name))
		}
		if !c.hostSysctls {
			if err := validateHostSysctl(sysctl.Name, c.spec, at); err != nil {
				errs = append(errs, err)
			}
		}
		seen.Insert(sysctl.Name)
	}
	return errs
}

// validateHostSysctl refuses sysctls of a namespace that the pod shares with its host.
func validateHostSysctl(name string, spec *corev1.PodSpec, path *field.Path) *field.Error {
	// A name may part its elements with slashes, in which case dots stand for themselves.
	known := name
	if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '/' {
		known = strings.NewReplacer("/", ".", ".", "/").Replace(name)
	}
	known, _, _ = strings.Cut(known, "*")
	switch {
	case spec.HostNetwork && strings.HasPrefix(known, "net."):
		return field.Invalid(path, name, "may not be specified when 'hostNetwork' is true")
	case spec.HostIPC && isIPCSysctl(known):
		return field.Invalid(path, name, "may not be specified when 'hostIPC' is true")
	}
	return nil
}

func isIPCSysctl(name string) bool {
	switch name {
	case "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm",
		"kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg":
		return true
	}
	return strings.HasPrefix(name, "fs.mqueue.")
}

func validateSeccomp(profile *corev1.SeccompProfile, path *field.Path) field.ErrorList {
	if profile == nil {
		return nil
	}
	var errs field.ErrorList
	if profile.Type == "" {
		errs = append(errs, field.Required(path.Child("type"), "type is required when seccompProfile is set"))
	} else {
		errs = append(errs, oneOf(profile.Type, []corev1.SeccompProfileType{
			corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined,
		}, path.Child("type"))...)
	}
	filePath := path.Child("localhostProfile")
	switch isLocal := profile.Type == corev1.SeccompProfileTypeLocalhost; {
	case isLocal && profile.LocalhostProfile == nil:
		errs = append(errs, field.Required(filePath, "must be set when seccomp type is Localhost"))
	case isLocal:
		errs = append(errs, validateDescendingPath(*profile.LocalhostProfile, filePath)...)
	case profile.LocalhostProfile != nil:
		errs = append(errs, field.Invalid(filePath, profile, "can only be set when seccomp type is Localhost"))
	}
	return errs
}

func validateAppArmor(profile *corev1.AppArmorProfile, path *field.Path) field.ErrorList {
	if profile == nil {
		return nil
	}
	file, filePath := profile.LocalhostProfile, path.Child("localhostProfile")
	switch profile.Type {
	case "":
		return field.ErrorList{field.Required(path.Child("type"), "type is required when appArmorProfile is set")}
	case corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined:
		if file != nil {
			return field.ErrorList{field.Invalid(filePath, *file, "can only be set when AppArmor type is Localhost")}
		}
		return nil
	case corev1.AppArmorProfileTypeLocalhost:
	default:
		return field.ErrorList{field.NotSupported(path.Child("type"), profile.Type, []corev1.AppArmorProfileType{
			corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined,
		})}
	}
	var errs field.ErrorList
	switch {
	case file == nil || *file == "":
		return field.ErrorList{field.Required(filePath, "must be set when AppArmor type is Localhost")}
	case strings.TrimSpace(*file) != *file:
		errs = append(errs, field.Invalid(filePath, *file, "must not be padded with whitespace"))
	}
	if len(*file) > maxAppArmorProfileName {
		errs = append(errs, field.TooLong(filePath, "", maxAppArmorProfileName))
	}
	return errs
}

// validateSecurityContext checks the security context of one container.
func validateSecurityContext(security *corev1.SecurityContext, userNamespace bool, path *field.Path) field.ErrorList {
	if security == nil {
		return nil
	}
	errs := validID(security.RunAsUser, validation.IsValidUserID, path.Child("runAsUser"))
	errs = append(errs, validID(security.RunAsGroup, validation.IsValidGroupID, path.Child("runAsGroup"))...)
	if mount := security.ProcMount; mount != nil {
		errs = append(errs, oneOf(*mount, []corev1.ProcMountType{corev1.DefaultProcMount, corev1.UnmaskedProcMount}, path.Child("procMount"))...)
		if *mount == corev1.UnmaskedProcMount && !userNamespace {
			errs = append(errs, field.Invalid(path.Child("procMount"), *mount, "`hostUsers` must be false to use `Unmasked`"))
		}
	}
	errs = append(errs, validateSeccomp(security.SeccompProfile, path.Child("seccompProfile"))...)
	if escalation := security.AllowPrivilegeEscalation; escalation != nil && !*escalation {
		if security.Privileged != nil && *security.Privileged {
			errs = append(errs, field.Invalid(path, security, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
		}
		if security.Capabilities != nil {
			for _, capability := range security.Capabilities.Add {
				if capability == "CAP_SYS_ADMIN" {
					errs = append(errs, field.Invalid(path, security, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
				}
			}
		}
	}
	errs = append(errs, validateWindowsOptions(security.WindowsOptions, path.Child("windowsOptions"))...)
	return append(errs, validateAppArmor(security.AppArmorProfile, path.Child("appArmorProfile"))...)
}
