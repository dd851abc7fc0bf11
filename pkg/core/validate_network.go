package core

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The limits of a resolver's configuration, from the C library of Linux.
const (
	maxNameservers      = 3
	maxSearchPaths      = 32
	maxSearchListLength = 2048
	maxHostnameOverride = 64
)

func validateDNSConfig(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	config := spec.DNSConfig
	if spec.DNSPolicy == corev1.DNSNone {
		if config == nil {
			return field.ErrorList{field.Required(path, "must provide `dnsConfig` when `dnsPolicy` is None")}
		}
		if len(config.Nameservers) == 0 {
			return field.ErrorList{field.Required(path.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")}
		}
	}
	if config == nil {
		return nil
	}
	var errs field.ErrorList
	serversPath, searchesPath := path.Child("nameservers"), path.Child("searches")
	if len(config.Nameservers) > maxNameservers {
		errs = append(errs, field.Invalid(serversPath, config.Nameservers, fmt.Sprintf("must not have more than %v nameservers", maxNameservers)))
	}
	for i, server := range config.Nameservers {
		errs = append(errs, validation.IsValidIPForLegacyField(serversPath.Index(i), server, true, nil)...)
	}
	if len(config.Searches) > maxSearchPaths {
		errs = append(errs, field.Invalid(searchesPath, config.Searches, fmt.Sprintf("must not have more than %v search paths", maxSearchPaths)))
	}
	if len(strings.Join(config.Searches, " ")) > maxSearchListLength {
		errs = append(errs, field.Invalid(searchesPath, config.Searches,
			fmt.Sprintf("must not have more than %v characters (including spaces) in the search list", maxSearchListLength)))
	}
	for i, search := range config.Searches {
		if search == "." {
			continue
		}
		search = strings.TrimSuffix(search, ".")
		errs = append(errs, invalidEach(searchesPath.Index(i), search, validation.IsDNS1123SubdomainWithUnderscore(search))...)
	}
	for i, option := range config.Options {
		if option.Name == "" {
			errs = append(errs, field.Required(path.Child("options").Index(i), "must not be empty"))
		}
	}
	return errs
}

func validateHostAliases(aliases []corev1.HostAlias, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, alias := range aliases {
		errs = append(errs, validation.IsValidIPForLegacyField(path.Index(i).Child("ip"), alias.IP, true, nil)...)
		for j, name := range alias.Hostnames {
			errs = append(errs, invalidEach(path.Index(i).Child("hostnames").Index(j), name, validation.IsDNS1123Subdomain(name))...)
		}
	}
	return errs
}

// validateHostnameOverride checks the hostname that a pod sees itself under (KEP-4762).
func validateHostnameOverride(spec *corev1.PodSpec, path *field.Path) field.ErrorList {
	name := spec.HostnameOverride
	if name == nil {
		return nil
	}
	var errs field.ErrorList
	if spec.SetHostnameAsFQDN != nil && *spec.SetHostnameAsFQDN {
		errs = append(errs, field.Forbidden(path, "may not be specified when setHostnameAsFQDN is true"))
	}
	if spec.HostNetwork {
		errs = append(errs, field.Forbidden(path, "may not be specified when hostNetwork is true"))
	}
	if len(*name) > maxHostnameOverride {
		errs = append(errs, field.TooLong(path, "", maxHostnameOverride))
	}
	return append(errs, invalidEach(path, *name, validation.IsDNS1123Subdomain(*name))...)
}

// hostUsers checks what a pod with a user namespace of its own cannot share with its host (KEP-127).
func (c *specCheck) hostUsers(path *field.Path) field.ErrorList {
	if !usesUserNamespace(c.spec) {
		return nil
	}
	const detail = "when `hostUsers` is false"
	var errs field.ErrorList
	if c.spec.HostNetwork && !c.userNamespaceHostNet {
		errs = append(errs, field.Forbidden(path.Child("hostNetwork"), detail))
	}
	if c.spec.HostPID {
		errs = append(errs, field.Forbidden(path.Child("HostPID"), detail))
	}
	if c.spec.HostIPC {
		errs = append(errs, field.Forbidden(path.Child("HostIPC"), detail))
	}
	if c.userNamespaceDevices {
		return errs
	}
	visitContainers(c.spec, path, func(container *corev1.Container, at *field.Path) {
		if len(container.VolumeDevices) > 0 {
			errs = append(errs, field.Forbidden(at.Child("volumeDevices"), detail))
		}
	})
	return errs
}
