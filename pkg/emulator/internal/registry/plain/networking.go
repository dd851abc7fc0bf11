package plain

import (
	"net/netip"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

func ingresses() row {
	return &kind[networkingv1.Ingress]{
		version: networkingv1.SchemeGroupVersion, plural: "ingresses", singular: "ingress",
		short: []string{"ing"}, list: &networkingv1.IngressList{},
		wants:    specChanged[networkingv1.Ingress],
		validate: func(i *networkingv1.Ingress) field.ErrorList { return validateIngress(&i.Spec, field.NewPath("spec")) },
		validateCreate: func(i *networkingv1.Ingress) field.ErrorList {
			old, found := i.Annotations[oldIngressClass]
			if found && i.Spec.IngressClassName != nil && old != *i.Spec.IngressClassName {
				return field.ErrorList{field.Invalid(field.NewPath("annotations").Child(oldIngressClass), old, "must match `ingressClassName` when both are specified")}
			}
			return nil
		},
		warnings: func(changed, stored *networkingv1.Ingress) []string {
			if _, found := changed.Annotations[oldIngressClass]; found && stored == nil {
				return []string{"annotation \"" + oldIngressClass + "\" is deprecated, please use 'spec.ingressClassName' instead"}
			}
			return nil
		},
		status: &status[networkingv1.Ingress]{validate: func(changed, _ *networkingv1.Ingress) field.ErrorList {
			var errs field.ErrorList
			for i, at := range changed.Status.LoadBalancer.Ingress {
				path := field.NewPath("status", "loadBalancer", "ingress").Index(i)
				if at.IP != "" {
					errs = append(errs, address(at.IP, path.Child("ip"))...)
				}
				errs = append(errs, hostname(at.Hostname, path.Child("hostname"))...)
			}
			return errs
		}},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Class", "The name of the IngressClass resource that should be used for additional configuration"),
			resource.Column("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
			resource.Column("Address", "Address is a list containing ingress points for the load-balancer"),
			resource.Column("Ports", "Ports of TLS configurations that open"), resource.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, i *networkingv1.Ingress) []any {
			ports := "80"
			if len(i.Spec.TLS) > 0 {
				ports = "80, 443"
			}
			var at []string
			for _, ingress := range i.Status.LoadBalancer.Ingress {
				if ingress.IP != "" {
					at = append(at, ingress.IP)
				} else if ingress.Hostname != "" {
					at = append(at, ingress.Hostname)
				}
			}
			slices.Sort(at)
			return []any{
				i.Name, valueOr(i.Spec.IngressClassName, "<none>"), ingressHosts(i.Spec.Rules), strings.Join(slices.Compact(at), ","), ports, age(now, &i.ObjectMeta),
			}
		},
	}
}

// oldIngressClass is the annotation that named the class before spec.ingressClassName did.
const oldIngressClass = "kubernetes.io/ingress.class"

func ingressHosts(rules []networkingv1.IngressRule) string {
	var hosts []string
	for i, rule := range rules {
		if i < shown && rule.Host != "" {
			hosts = append(hosts, rule.Host)
		}
	}
	if len(hosts) == 0 {
		return "*"
	}
	if len(rules) > shown && len(hosts) == shown {
		return few(append(hosts, make([]string, len(rules)-shown)...))
	}
	return strings.Join(hosts, ",")
}

func validateIngress(spec *networkingv1.IngressSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(spec.Rules) == 0 && spec.DefaultBackend == nil {
		errs = append(errs, field.Invalid(path, spec.Rules, "either `defaultBackend` or `rules` must be specified"))
	}
	if spec.DefaultBackend != nil {
		errs = append(errs, validateBackend(spec.DefaultBackend, path.Child("defaultBackend"))...)
	}
	for i, rule := range spec.Rules {
		at := path.Child("rules").Index(i)
		errs = append(errs, hostname(rule.Host, at.Child("host"))...)
		if rule.HTTP == nil {
			continue
		}
		if len(rule.HTTP.Paths) == 0 {
			errs = append(errs, field.Required(at.Child("http", "paths"), ""))
		}
		for j := range rule.HTTP.Paths {
			errs = append(errs, validateIngressPath(&rule.HTTP.Paths[j], at.Child("http", "paths").Index(j))...)
		}
	}
	for i, tls := range spec.TLS {
		at := path.Child("tls").Index(i)
		for j, host := range tls.Hosts {
			errs = append(errs, dnsName(host, at.Child("hosts").Index(j))...)
		}
		if tls.SecretName != "" {
			errs = append(errs, dnsSubdomain(tls.SecretName, at.Child("secretName"))...)
		}
	}
	if class := spec.IngressClassName; class != nil {
		errs = append(errs, dnsSubdomain(*class, path.Child("ingressClassName"))...)
	}
	return errs
}

// hostname wants a name in DNS, perhaps for all names below one, and no address; none is fine.
func hostname(host string, path *field.Path) field.ErrorList {
	if host == "" {
		return nil
	}
	var errs field.ErrorList
	if _, err := netip.ParseAddr(host); err == nil {
		errs = append(errs, field.Invalid(path, host, "must be a DNS name, not an IP address"))
	}
	return append(errs, dnsName(host, path)...)
}

func dnsName(host string, path *field.Path) field.ErrorList {
	if strings.Contains(host, "*") {
		return invalid(host, path, validation.IsWildcardDNS1123Subdomain(host))
	}
	return dnsSubdomain(host, path)
}

func validateIngressPath(p *networkingv1.HTTPIngressPath, path *field.Path) field.ErrorList {
	if p.PathType == nil {
		return field.ErrorList{field.Required(path.Child("pathType"), "pathType must be specified")}
	}
	at := path.Child("path")
	var errs field.ErrorList
	absolute := strings.HasPrefix(p.Path, "/")
	switch *p.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		if !absolute {
			errs = append(errs, field.Invalid(at, p.Path, "must be an absolute path"))
		}
		for _, sequence := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(p.Path, sequence) {
				errs = append(errs, field.Invalid(at, p.Path, "must not contain '"+sequence+"'"))
			}
		}
		for _, suffix := range []string{"/..", "/."} {
			if strings.HasSuffix(p.Path, suffix) {
				errs = append(errs, field.Invalid(at, p.Path, "cannot end with '"+suffix+"'"))
			}
		}
	case networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" && !absolute {
			errs = append(errs, field.Invalid(at, p.Path, "must be an absolute path"))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("pathType"), *p.PathType, []string{"Exact", "ImplementationSpecific", "Prefix"}))
	}
	return append(errs, validateBackend(&p.Backend, path.Child("backend"))...)
}

func validateBackend(backend *networkingv1.IngressBackend, path *field.Path) field.ErrorList {
	service := backend.Service
	switch {
	case backend.Resource != nil && service != nil:
		return field.ErrorList{field.Invalid(path, "", "cannot set both resource and service backends")}
	case backend.Resource != nil:
		var errs field.ErrorList
		if backend.Resource.Kind == "" {
			errs = append(errs, field.Required(path.Child("resource", "kind"), "kind is required"))
		}
		if backend.Resource.Name == "" {
			errs = append(errs, field.Required(path.Child("resource", "name"), "name is required"))
		}
		return errs
	case service == nil:
		return field.ErrorList{field.Invalid(path, "", "resource or service backend is required")}
	}
	var errs field.ErrorList
	at := path.Child("service")
	if service.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	} else {
		errs = append(errs, invalid(service.Name, at.Child("name"), apivalidation.NameIsDNSLabel(service.Name, false))...)
	}
	named, numbered := service.Port.Name != "", service.Port.Number != 0
	switch {
	case named && numbered:
		errs = append(errs, field.Invalid(path, "", "cannot set both port name & port number"))
	case named:
		errs = append(errs, invalid(service.Port.Name, at.Child("port", "name"), validation.IsValidPortName(service.Port.Name))...)
	case numbered:
		errs = append(errs, invalid(service.Port.Number, at.Child("port", "number"), validation.IsValidPortNum(int(service.Port.Number)))...)
	default:
		errs = append(errs, field.Required(path, "port name or number is required"))
	}
	return errs
}

func ingressClasses() row {
	return &kind[networkingv1.IngressClass]{
		version: networkingv1.SchemeGroupVersion, plural: "ingressclasses", singular: "ingressclass", list: &networkingv1.IngressClassList{},
		clusterScoped: true,
		wants:         func(changed, stored *networkingv1.IngressClass) bool { return !same(changed.Spec, stored.Spec) },
		validate: func(c *networkingv1.IngressClass) field.ErrorList {
			path := field.NewPath("spec", "controller")
			if c.Spec.Controller == "" {
				return field.ErrorList{field.Required(path, "")}
			}
			if len(c.Spec.Controller) > 250 {
				return field.ErrorList{field.TooLong(path, "", 250)}
			}
			return validation.IsDomainPrefixedPath(path, c.Spec.Controller)
		},
		validateUpdate: func(changed, stored *networkingv1.IngressClass) field.ErrorList {
			return immutable(changed.Spec.Controller, stored.Spec.Controller, field.NewPath("spec", "controller"))
		},
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Controller", "Controller that is responsible for handling this class"),
			resource.Column("Parameters", "A reference to a resource with additional parameters"), resource.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, c *networkingv1.IngressClass) []any {
			name, parameters := c.Name, "<none>"
			if c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
				name += " (default)"
			}
			if p := c.Spec.Parameters; p != nil {
				parameters = p.Kind
				if p.APIGroup != nil {
					parameters += "." + *p.APIGroup
				}
				parameters += "/" + p.Name
			}
			return []any{name, c.Spec.Controller, parameters, age(now, &c.ObjectMeta)}
		},
	}
}

func networkPolicies() row {
	return &kind[networkingv1.NetworkPolicy]{
		version: networkingv1.SchemeGroupVersion, plural: "networkpolicies", singular: "networkpolicy",
		short: []string{"netpol"}, list: &networkingv1.NetworkPolicyList{},
		wants:    specChanged[networkingv1.NetworkPolicy],
		validate: validateNetworkPolicy,
		columns: columns([]metav1.TableColumnDefinition{
			resource.Column("Pod-Selector", networkingv1.NetworkPolicySpec{}.SwaggerDoc()["podSelector"]), resource.AgeColumn(),
		}),
		cells: func(now clock.PassiveClock, p *networkingv1.NetworkPolicy) []any {
			return []any{p.Name, metav1.FormatLabelSelector(&p.Spec.PodSelector), age(now, &p.ObjectMeta)}
		},
	}
}

func validateNetworkPolicy(p *networkingv1.NetworkPolicy) field.ErrorList {
	path := field.NewPath("spec")
	errs := selector(&p.Spec.PodSelector, path.Child("podSelector"))
	rule := func(ports []networkingv1.NetworkPolicyPort, peers []networkingv1.NetworkPolicyPeer, at *field.Path, direction string) {
		for i := range ports {
			errs = append(errs, validatePolicyPort(&ports[i], at.Child("ports").Index(i))...)
		}
		for i := range peers {
			errs = append(errs, validatePeer(&peers[i], at.Child(direction).Index(i))...)
		}
	}
	for i, ingress := range p.Spec.Ingress {
		rule(ingress.Ports, ingress.From, path.Child("ingress").Index(i), "from")
	}
	for i, egress := range p.Spec.Egress {
		rule(egress.Ports, egress.To, path.Child("egress").Index(i), "to")
	}
	if types := p.Spec.PolicyTypes; len(types) > 2 {
		return append(errs, field.Invalid(path.Child("policyTypes"), &types, "may not specify more than two policyTypes"))
	}
	for i, kind := range p.Spec.PolicyTypes {
		errs = append(errs, supportedIn(string(kind), path.Child("policyTypes").Index(i), []string{"Ingress", "Egress"})...)
	}
	return errs
}

func validatePolicyPort(port *networkingv1.NetworkPolicyPort, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if port.Protocol != nil {
		errs = append(errs, supportedIn(string(*port.Protocol), path.Child("protocol"), []string{"TCP", "UDP", "SCTP"})...)
	}
	at := path.Child("endPort")
	switch {
	case port.Port == nil:
		if port.EndPort != nil {
			errs = append(errs, field.Invalid(at, *port.EndPort, "may not be specified when `port` is not specified"))
		}
	case port.Port.Type == intstr.String:
		if port.EndPort != nil {
			errs = append(errs, field.Invalid(at, *port.EndPort, "may not be specified when `port` is non-numeric"))
		}
		errs = append(errs, invalid(port.Port.StrVal, path.Child("port"), validation.IsValidPortName(port.Port.StrVal))...)
	default:
		errs = append(errs, invalid(port.Port.IntVal, path.Child("port"), validation.IsValidPortNum(port.Port.IntValue()))...)
		if port.EndPort != nil {
			if *port.EndPort < port.Port.IntVal {
				errs = append(errs, field.Invalid(at, port.Port.IntVal, "must be greater than or equal to `port`"))
			}
			errs = append(errs, invalid(*port.EndPort, at, validation.IsValidPortNum(int(*port.EndPort)))...)
		}
	}
	return errs
}

func validatePeer(peer *networkingv1.NetworkPolicyPeer, path *field.Path) field.ErrorList {
	errs := selector(peer.PodSelector, path.Child("podSelector"))
	errs = append(errs, selector(peer.NamespaceSelector, path.Child("namespaceSelector"))...)
	others := peer.PodSelector != nil || peer.NamespaceSelector != nil
	if peer.IPBlock == nil {
		if !others {
			errs = append(errs, field.Required(path, "must specify a peer"))
		}
		return errs
	}
	errs = append(errs, validateIPBlock(peer.IPBlock, path.Child("ipBlock"))...)
	if others {
		errs = append(errs, field.Forbidden(path, "may not specify both ipBlock and another peer"))
	}
	return errs
}

func validateIPBlock(block *networkingv1.IPBlock, path *field.Path) field.ErrorList {
	if block.CIDR == "" {
		return field.ErrorList{field.Required(path.Child("cidr"), "")}
	}
	const wanted = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
	whole, err := netip.ParsePrefix(block.CIDR)
	if err != nil {
		return field.ErrorList{field.Invalid(path.Child("cidr"), block.CIDR, wanted)}
	}
	var errs field.ErrorList
	for i, text := range block.Except {
		at := path.Child("except").Index(i)
		except, err := netip.ParsePrefix(text)
		if err != nil {
			errs = append(errs, field.Invalid(at, text, wanted))
		} else if !whole.Contains(except.Addr()) || whole.Bits() >= except.Bits() {
			errs = append(errs, field.Invalid(at, text, "must be a strict subset of `cidr`"))
		}
	}
	return errs
}
