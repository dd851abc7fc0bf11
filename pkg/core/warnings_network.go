package core

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// definedPort is a port of a container and where it stands.
type definedPort struct {
	port *corev1.ContainerPort
	path *field.Path
}

func (w *warner) eachPort(visit func(definedPort)) {
	visitContainers(w.spec, w.path.Child("spec"), func(c *corev1.Container, path *field.Path) {
		for i := range c.Ports {
			visit(definedPort{&c.Ports[i], path.Child("ports").Index(i)})
		}
	})
}

// ports warns of ports that are defined more than once.
func (w *warner) ports() {
	defined := map[string][]definedPort{}
	w.eachPort(func(here definedPort) {
		port := here.port
		if port.HostIP != "" && port.HostPort == 0 {
			w.add(here.path, "hostIP set without hostPort: {Name:%s HostPort:%d ContainerPort:%d Protocol:%s HostIP:%s}",
				port.Name, port.HostPort, port.ContainerPort, port.Protocol, port.HostIP)
		}
		key := fmt.Sprintf("%d/%s", port.ContainerPort, port.Protocol)
		for _, other := range defined[key] {
			if how := conflict(port, other.port); how != "" {
				w.add(here.path, "%s port definition with %s", how, other.path)
			}
		}
		defined[key] = append(defined[key], here)
	})
}

// conflict says how two definitions of the same port get into each other's way, "" when they do not.
func conflict(a, b *corev1.ContainerPort) string {
	switch {
	case a.HostIP == b.HostIP && a.HostPort == b.HostPort:
		return "duplicate"
	case a.HostPort == 0 || b.HostPort == 0:
		return "overlapping"
	case a.HostPort == b.HostPort && (a.HostIP == "") != (b.HostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}

func (w *warner) portNames() {
	named := map[string]*field.Path{}
	w.eachPort(func(here definedPort) {
		name := here.port.Name
		if name == "" {
			return
		}
		if other, taken := named[name]; taken {
			w.add(here.path, "duplicate port name %q with %s, services and probes that select ports by name will use %s", name, other, other)
			return
		}
		named[name] = here.path
	})
}

// addresses warns of IP addresses that are written in a way that not everyone reads alike.
func (w *warner) addresses() {
	if w.spec.DNSConfig != nil {
		for i, server := range w.spec.DNSConfig.Nameservers {
			w.address(server, w.path.Child("spec", "dnsConfig", "nameservers").Index(i))
		}
	}
	for i, alias := range w.spec.HostAliases {
		w.address(alias.IP, w.path.Child("spec", "hostAliases").Index(i).Child("ip"))
	}
}

func (w *warner) address(text string, path *field.Path) {
	w.list = append(w.list, addressWarnings(path, text)...)
}

// addressWarnings warns of an address that is read otherwise by some than by others. What is no address at all is for
// validation to report.
func addressWarnings(path *field.Path, text string) []string {
	ip := netutils.ParseIPSloppy(text)
	if ip == nil {
		return nil
	}
	address, err := netip.ParseAddr(text)
	switch {
	case err != nil || address.Is4In6():
		return []string{fmt.Sprintf("%s: non-standard IP address %q is invalid: use %q", path, text, ip.String())}
	case address.Is6() && address.String() != text:
		return []string{fmt.Sprintf("%s: IPv6 address %q should be in RFC 5952 canonical format (%q)", path, text, address.String())}
	}
	return nil
}

// PodStatusWarnings says what an API server of Kubernetes 1.36 warns of when the status of a pod is replaced: addresses in
// spellings that not every reader takes the same way.
func PodStatusWarnings(pod *corev1.Pod) []string {
	var warnings []string
	path := field.NewPath("status")
	for i, ip := range pod.Status.PodIPs {
		warnings = append(warnings, addressWarnings(path.Child("podIPs").Index(i).Child("ip"), ip.IP)...)
	}
	for i, ip := range pod.Status.HostIPs {
		warnings = append(warnings, addressWarnings(path.Child("hostIPs").Index(i).Child("ip"), ip.IP)...)
	}
	return warnings
}
