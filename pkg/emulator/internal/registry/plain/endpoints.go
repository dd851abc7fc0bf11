package plain

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// shown is how many items of a list a cell shows.
const shown = 3

type (
	// endpointsV1 and endpointsList are deprecated in favour of EndpointSlices, and served.
	endpointsV1    = corev1.Endpoints      //nolint:staticcheck // As above.
	endpointsList  = corev1.EndpointsList  //nolint:staticcheck // As above.
	endpointSubset = corev1.EndpointSubset //nolint:staticcheck // As above.
)

func endpoints() row {
	return &kind[endpointsV1]{
		version: corev1.SchemeGroupVersion, plural: "endpoints", singular: "endpoints",
		short: []string{"ep"}, list: &endpointsList{},
		createOnUpdate: true,
		validateCreate: func(e *endpointsV1) field.ErrorList { return validateSubsets(e.Subsets) },
		validateUpdate: func(changed, stored *endpointsV1) field.ErrorList {
			if same(changed.Subsets, stored.Subsets) {
				return nil
			}
			return validateSubsets(changed.Subsets)
		},
		warnings: func(*endpointsV1, *endpointsV1) []string {
			return []string{"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}
		},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Endpoints", endpointsV1{}.SwaggerDoc()["subsets"]), resource.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, e *endpointsV1) []any {
			var list []string
			for i := range e.Subsets {
				subset := &e.Subsets[i]
				for _, at := range subset.Addresses {
					if len(subset.Ports) == 0 {
						list = append(list, at.IP)
					}
				}
				for _, port := range subset.Ports {
					for _, at := range subset.Addresses {
						list = append(list, net.JoinHostPort(at.IP, strconv.Itoa(int(port.Port))))
					}
				}
			}
			text := few(list)
			if len(e.Subsets) == 0 {
				text = "<none>"
			}
			return []any{e.Name, text, age(now, &e.ObjectMeta)}
		},
	}
}

func validateSubsets(subsets []endpointSubset) field.ErrorList {
	var errs field.ErrorList
	for i := range subsets {
		subset, path := &subsets[i], field.NewPath("subsets").Index(i)
		if len(subset.Addresses)+len(subset.NotReadyAddresses) == 0 {
			errs = append(errs, field.Required(path, "must specify `addresses` or `notReadyAddresses`"))
		}
		for j := range subset.Addresses {
			errs = append(errs, validateEndpoint(&subset.Addresses[j], path.Child("addresses").Index(j))...)
		}
		for j := range subset.NotReadyAddresses {
			errs = append(errs, validateEndpoint(&subset.NotReadyAddresses[j], path.Child("notReadyAddresses").Index(j))...)
		}
		for j := range subset.Ports {
			port, at := &subset.Ports[j], path.Child("ports").Index(j)
			if port.Name != "" {
				errs = append(errs, dnsLabel(port.Name, at.Child("name"))...)
			} else if len(subset.Ports) > 1 {
				errs = append(errs, field.Required(at.Child("name"), ""))
			}
			errs = append(errs, invalid(port.Port, at.Child("port"), validation.IsValidPortNum(int(port.Port)))...)
			errs = append(errs, protocol(port.Protocol, at.Child("protocol"))...)
		}
	}
	return errs
}

func validateEndpoint(endpoint *corev1.EndpointAddress, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if endpoint.Hostname != "" {
		errs = append(errs, dnsLabel(endpoint.Hostname, path.Child("hostname"))...)
	}
	if endpoint.NodeName != nil {
		errs = append(errs, dnsSubdomain(*endpoint.NodeName, path.Child("nodeName"))...)
	}
	return append(errs, endpointAddress(endpoint.IP, path.Child("ip"))...)
}

// address wants an IP address.
func address(ip string, path *field.Path) field.ErrorList {
	if _, err := netip.ParseAddr(ip); err != nil {
		return field.ErrorList{field.Invalid(path, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")}
	}
	return nil
}

// endpointAddress wants an address that can be reached from other machines.
func endpointAddress(ip string, path *field.Path) field.ErrorList {
	errs := address(ip, path)
	parsed, err := netip.ParseAddr(ip)
	if err != nil {
		return append(errs, field.Invalid(path, ip, "must be a valid IP address")) // said twice, as Kubernetes does
	}
	if parsed.IsUnspecified() {
		errs = append(errs, field.Invalid(path, ip, "may not be unspecified ("+ip+")"))
	}
	if parsed.IsLoopback() {
		errs = append(errs, field.Invalid(path, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
	}
	if parsed.IsLinkLocalUnicast() {
		errs = append(errs, field.Invalid(path, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
	}
	if parsed.IsLinkLocalMulticast() {
		errs = append(errs, field.Invalid(path, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"))
	}
	return errs
}

func endpointSlices() row {
	doc := discoveryv1.EndpointSlice{}.SwaggerDoc()
	return &kind[discoveryv1.EndpointSlice]{
		version: discoveryv1.SchemeGroupVersion, plural: "endpointslices", singular: "endpointslice", list: &discoveryv1.EndpointSliceList{},
		wants: func(changed, stored *discoveryv1.EndpointSlice) bool {
			return changed.AddressType != stored.AddressType || !same(changed.Endpoints, stored.Endpoints) ||
				!same(changed.Ports, stored.Ports) || !same(changed.Labels, stored.Labels)
		},
		validateCreate: func(s *discoveryv1.EndpointSlice) field.ErrorList {
			return append(validateSlice(s), validateSliceEndpoints(s)...)
		},
		validateUpdate: func(changed, stored *discoveryv1.EndpointSlice) field.ErrorList {
			errs := validateSlice(changed)
			if !same(changed.Endpoints, stored.Endpoints) {
				errs = append(errs, validateSliceEndpoints(changed)...)
			}
			return append(errs, immutable(changed.AddressType, stored.AddressType, field.NewPath("addressType"))...)
		},
		warnings: func(changed, stored *discoveryv1.EndpointSlice) []string {
			if stored == nil && changed.AddressType == discoveryv1.AddressTypeFQDN {
				return []string{"spec.addressType: FQDN endpoints are deprecated"}
			}
			return nil
		},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("AddressType", doc["addressType"]), resource.Column("Ports", doc["ports"]),
			resource.Column("Endpoints", doc["endpoints"]), resource.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, s *discoveryv1.EndpointSlice) []any {
			var ports, addresses []string
			for _, port := range s.Ports {
				text := "*"
				if port.Port != nil {
					text = strconv.Itoa(int(*port.Port))
				} else if port.Name != nil {
					text = *port.Name
				}
				ports = append(ports, text)
			}
			for _, endpoint := range s.Endpoints {
				addresses = append(addresses, endpoint.Addresses...)
			}
			return []any{s.Name, string(s.AddressType), orUnset(few(ports)), orUnset(few(addresses)), age(now, &s.ObjectMeta)}
		},
	}
}

func orUnset(text string) string {
	if text == "" {
		return "<unset>"
	}
	return text
}

// The limits of an EndpointSlice.
const (
	maxSliceEndpoints = 1000
	maxSliceAddresses = 100
	maxSlicePorts     = 20000
)

func validateSlice(s *discoveryv1.EndpointSlice) field.ErrorList {
	path := field.NewPath("addressType")
	var errs field.ErrorList
	if s.AddressType == "" {
		errs = append(errs, field.Required(path, ""))
	} else {
		errs = append(errs, oneOf(s.AddressType, path, discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6)...)
	}
	path = field.NewPath("ports")
	if len(s.Ports) > maxSlicePorts {
		return append(errs, field.TooMany(path, len(s.Ports), maxSlicePorts))
	}
	names := map[string]bool{}
	for i, port := range s.Ports {
		name := valueOr(port.Name, "")
		if name != "" {
			errs = append(errs, dnsLabel(name, path.Index(i).Child("name"))...)
		}
		if names[name] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), port.Name))
		}
		names[name] = true
		errs = append(errs, protocol(corev1.Protocol(valueOr(port.Protocol, "")), path.Index(i).Child("protocol"))...)
	}
	return errs
}

func validateSliceEndpoints(s *discoveryv1.EndpointSlice) field.ErrorList {
	path := field.NewPath("endpoints")
	if len(s.Endpoints) > maxSliceEndpoints {
		return field.ErrorList{field.TooMany(path, len(s.Endpoints), maxSliceEndpoints)}
	}
	var errs field.ErrorList
	for i := range s.Endpoints {
		endpoint, at := &s.Endpoints[i], path.Index(i).Child("addresses")
		if len(endpoint.Addresses) == 0 {
			errs = append(errs, field.Required(at, "must contain at least 1 address"))
		} else if len(endpoint.Addresses) > maxSliceAddresses {
			errs = append(errs, field.TooMany(at, len(endpoint.Addresses), maxSliceAddresses))
		}
		for j, text := range endpoint.Addresses {
			errs = append(errs, validateSliceAddress(s.AddressType, text, at, at.Index(j))...)
		}
		if endpoint.NodeName != nil {
			errs = append(errs, dnsSubdomain(*endpoint.NodeName, path.Index(i).Child("nodeName"))...)
		}
		if endpoint.Hostname != nil {
			errs = append(errs, dnsLabel(*endpoint.Hostname, path.Index(i).Child("hostname"))...)
		}
	}
	return errs
}

func validateSliceAddress(kind discoveryv1.AddressType, text string, list, path *field.Path) field.ErrorList {
	switch kind {
	case discoveryv1.AddressTypeFQDN:
		return validation.IsFullyQualifiedDomainName(path, text)
	case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6:
	default:
		return nil
	}
	if errs := address(text, path); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	if four := !strings.Contains(text, ":"); four != (kind == discoveryv1.AddressTypeIPv4) {
		errs = append(errs, field.Invalid(list, text, "must be an "+string(kind)+" address"))
	}
	return append(errs, endpointAddress(text, path)...)
}
