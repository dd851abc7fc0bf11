package core

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxCredentialSpecKiB = 64
	maxUserDomain        = 256
	maxUserName          = 104
	notOnWindows         = "cannot be set for a windows pod"
	notOnLinux           = "windows options cannot be set for a linux pod"
)

// The names that Windows accepts for a domain and its users.
var (
	controlCharacters = regexp.MustCompile(`[[:cntrl:]]+`)
	netBiosName       = regexp.MustCompile(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	dnsDomain         = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
	userNameReserved  = regexp.MustCompile(`["/\\:;|=,\+\*\?<>@\[\]]`)
	userNameBlank     = regexp.MustCompile(`^[\. ]+$`)
)

// operatingSystem checks spec.os (KEP-2802), and that a pod for one system asks for nothing of the other.
func (c *specCheck) operatingSystem(path *field.Path) field.ErrorList {
	if c.spec.OS == nil {
		return nil
	}
	switch c.spec.OS.Name {
	case "":
		return field.ErrorList{field.Required(path.Child("os", "name"), "")}
	case corev1.Linux:
		return forbidWindows(c.spec, path)
	case corev1.Windows:
		return forbidLinux(c.spec, path)
	default:
		return field.ErrorList{field.NotSupported(path.Child("os"), c.spec.OS.Name, []corev1.OSName{corev1.Linux, corev1.Windows})}
	}
}

func forbidWindows(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.SecurityContext != nil && spec.SecurityContext.WindowsOptions != nil {
		errs = append(errs, field.Forbidden(path.Child("securityContext", "windowsOptions"), notOnLinux))
	}
	visitContainers(spec, path, func(c *corev1.Container, at *field.Path) {
		if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil {
			errs = append(errs, field.Forbidden(at.Child("securityContext", "windowsOptions"), notOnLinux))
		}
	})
	return errs
}

// linuxOnly is a field that only Linux knows.
type linuxOnly struct {
	path *field.Path
	set  bool
}

func forbidLinux(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	s, at := spec.SecurityContext, path.Child("securityContext")
	if s == nil {
		s = &corev1.PodSecurityContext{}
	}
	errs := forbid([]linuxOnly{
		{at.Child("appArmorProfile"), s.AppArmorProfile != nil},
		{at.Child("seLinuxOptions"), s.SELinuxOptions != nil},
		{path.Child("hostUsers"), spec.HostUsers != nil},
		{path.Child("hostPID"), spec.HostPID},
		{path.Child("hostIPC"), spec.HostIPC},
		{at.Child("seccompProfile"), s.SeccompProfile != nil},
		{at.Child("fsGroup"), s.FSGroup != nil},
		{at.Child("fsGroupChangePolicy"), s.FSGroupChangePolicy != nil},
		{at.Child("sysctls"), len(s.Sysctls) > 0},
		{path.Child("shareProcessNamespace"), spec.ShareProcessNamespace != nil},
		{at.Child("runAsUser"), s.RunAsUser != nil},
		{at.Child("runAsGroup"), s.RunAsGroup != nil},
		{at.Child("supplementalGroups"), s.SupplementalGroups != nil},
		{at.Child("supplementalGroupsPolicy"), s.SupplementalGroupsPolicy != nil},
		{at.Child("seLinuxChangePolicy"), s.SELinuxChangePolicy != nil},
	})
	visitContainers(spec, path, func(c *corev1.Container, containerPath *field.Path) {
		s, at := c.SecurityContext, containerPath.Child("securityContext")
		if s == nil {
			return
		}
		errs = append(errs, forbid([]linuxOnly{
			{at.Child("appArmorProfile"), s.AppArmorProfile != nil},
			{at.Child("seLinuxOptions"), s.SELinuxOptions != nil},
			{at.Child("seccompProfile"), s.SeccompProfile != nil},
			{at.Child("capabilities"), s.Capabilities != nil},
			{at.Child("readOnlyRootFilesystem"), s.ReadOnlyRootFilesystem != nil},
			{at.Child("privileged"), s.Privileged != nil},
			{at.Child("allowPrivilegeEscalation"), s.AllowPrivilegeEscalation != nil},
			{at.Child("procMount"), s.ProcMount != nil},
			{at.Child("runAsUser"), s.RunAsUser != nil},
			{at.Child("runAsGroup"), s.RunAsGroup != nil},
		})...)
	})
	return errs
}

func forbid(fields []linuxOnly) field.ErrorList {
	var errs field.ErrorList
	for _, f := range fields {
		if f.set {
			errs = append(errs, field.Forbidden(f.path, notOnWindows))
		}
	}
	return errs
}

// validateHostProcess checks Windows containers that run as processes of their host (KEP-1981): all or none, and on
// the host's network.
func validateHostProcess(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	var ofPod *bool
	if spec.SecurityContext != nil && spec.SecurityContext.WindowsOptions != nil {
		ofPod = spec.SecurityContext.WindowsOptions.HostProcess
	}
	containers, onHost := 0, 0
	visitContainers(spec, path, func(c *corev1.Container, at *field.Path) {
		containers++
		own := ofPod
		if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil && c.SecurityContext.WindowsOptions.HostProcess != nil {
			own = c.SecurityContext.WindowsOptions.HostProcess
		}
		if ofPod != nil && *own != *ofPod {
			errs = append(errs, field.Invalid(at.Child("securityContext", "windowsOptions", "hostProcess"), *own,
				fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", *ofPod)))
		}
		if own != nil && *own {
			onHost++
		}
	})
	if onHost == 0 {
		return errs
	}
	if onHost != containers {
		errs = append(errs, field.Invalid(path, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"))
	}
	if !spec.HostNetwork {
		errs = append(errs, field.Invalid(path.Child("hostNetwork"), spec.HostNetwork, "hostNetwork must be true if pod contains any hostProcess containers"))
	}
	return errs
}

func validateWindowsOptions(options *corev1.WindowsSecurityContextOptions, path *field.Path) field.ErrorList {
	if options == nil {
		return nil
	}
	var errs field.ErrorList
	if name := options.GMSACredentialSpecName; name != nil {
		errs = append(errs, invalidEach(path.Child("gmsaCredentialSpecName"), name, validation.IsDNS1123Subdomain(*name))...)
	}
	if text := options.GMSACredentialSpec; text != nil {
		switch at := path.Child("gmsaCredentialSpec"); {
		case *text == "":
			errs = append(errs, field.Invalid(at, text, "gmsaCredentialSpec cannot be an empty string"))
		case len(*text) > maxCredentialSpecKiB<<10:
			errs = append(errs, field.Invalid(at, text, fmt.Sprintf("gmsaCredentialSpec size must be under %d KiB", maxCredentialSpecKiB)))
		}
	}
	if options.RunAsUserName != nil {
		errs = append(errs, validateUserName(options.RunAsUserName, path.Child("runAsUserName"))...)
	}
	return errs
}

// validateUserName checks a user of Windows: NAME or DOMAIN\NAME.
func validateUserName(text *string, path *field.Path) field.ErrorList {
	var details []string
	name := *text
	domain, user, hasDomain := strings.Cut(name, `\`)
	if !hasDomain {
		domain, user = "", name
	}
	switch {
	case name == "":
		details = []string{"runAsUserName cannot be an empty string"}
	case controlCharacters.MatchString(name):
		details = []string{"runAsUserName cannot contain control characters"}
	case strings.Contains(user, `\`):
		details = []string{"runAsUserName cannot contain more than one backslash"}
	default:
		details = append(domainProblems(domain, hasDomain), userProblems(user)...)
	}
	return invalidEach(path, text, details)
}

func domainProblems(domain string, given bool) []string {
	var details []string
	if len(domain) >= maxUserDomain {
		details = append(details, fmt.Sprintf("runAsUserName's Domain length must be under %d characters", maxUserDomain))
	}
	if given && !netBiosName.MatchString(domain) && !dnsDomain.MatchString(domain) {
		details = append(details, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")
	}
	return details
}

func userProblems(user string) []string {
	var details []string
	switch {
	case user == "":
		details = append(details, "runAsUserName's User cannot be empty")
	case len(user) > maxUserName:
		details = append(details, fmt.Sprintf("runAsUserName's User length must not be longer than %d characters", maxUserName))
	}
	if userNameBlank.MatchString(user) {
		details = append(details, "runAsUserName's User cannot contain only periods or spaces")
	}
	if userNameReserved.MatchString(user) {
		details = append(details, `runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
	return details
}
