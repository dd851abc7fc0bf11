package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// lifecycleAndProbes checks what containers have that run beside others: regular ones and sidecars.
func (c *specCheck) lifecycleAndProbes(container *corev1.Container, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if container.Lifecycle != nil {
		errs = append(errs, c.lifecycle(container.Lifecycle, path.Child("lifecycle"))...)
	}
	if probe := container.LivenessProbe; probe != nil {
		errs = append(errs, c.probe(probe, path.Child("livenessProbe"))...)
		errs = append(errs, onlyOneSuccess(probe, path.Child("livenessProbe"))...)
	}
	if probe := container.ReadinessProbe; probe != nil {
		errs = append(errs, c.probe(probe, path.Child("readinessProbe"))...)
		if grace := probe.TerminationGracePeriodSeconds; grace != nil {
			errs = append(errs, field.Invalid(path.Child("readinessProbe", "terminationGracePeriodSeconds"), *grace, "must not be set for readinessProbes"))
		}
	}
	if probe := container.StartupProbe; probe != nil {
		errs = append(errs, c.probe(probe, path.Child("startupProbe"))...)
		errs = append(errs, onlyOneSuccess(probe, path.Child("startupProbe"))...)
	}
	return errs
}

func onlyOneSuccess(probe *corev1.Probe, path *field.Path) field.ErrorList {
	if probe.SuccessThreshold == 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("successThreshold"), probe.SuccessThreshold, "must be 1")}
}

// forbidLifecycleAndProbes refuses them for init containers that run to their end before the next one starts.
func forbidLifecycleAndProbes(container *corev1.Container, path *field.Path) field.ErrorList {
	const detail = "may not be set for init containers without restartPolicy=Always"
	var errs field.ErrorList
	for _, part := range []struct {
		name string
		set  bool
	}{
		{"lifecycle", container.Lifecycle != nil},
		{"livenessProbe", container.LivenessProbe != nil},
		{"readinessProbe", container.ReadinessProbe != nil},
		{"startupProbe", container.StartupProbe != nil},
	} {
		if part.set {
			errs = append(errs, field.Forbidden(path.Child(part.name), detail))
		}
	}
	return errs
}

func (c *specCheck) probe(probe *corev1.Probe, path *field.Path) field.ErrorList {
	errs := c.handler(action{exec: probe.Exec, http: probe.HTTPGet, tcp: probe.TCPSocket, grpc: probe.GRPC}, path)
	for _, number := range []struct {
		name  string
		value int32
	}{
		{"initialDelaySeconds", probe.InitialDelaySeconds},
		{"timeoutSeconds", probe.TimeoutSeconds},
		{"periodSeconds", probe.PeriodSeconds},
		{"successThreshold", probe.SuccessThreshold},
		{"failureThreshold", probe.FailureThreshold},
	} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(number.value), path.Child(number.name))...)
	}
	if grace := probe.TerminationGracePeriodSeconds; grace != nil && *grace <= 0 {
		errs = append(errs, field.Invalid(path.Child("terminationGracePeriodSeconds"), *grace, "must be greater than 0"))
	}
	return errs
}

func (c *specCheck) lifecycle(lifecycle *corev1.Lifecycle, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, hook := range []struct {
		name    string
		handler *corev1.LifecycleHandler
	}{{"postStart", lifecycle.PostStart}, {"preStop", lifecycle.PreStop}} {
		if h := hook.handler; h != nil {
			errs = append(errs, c.handler(action{exec: h.Exec, http: h.HTTPGet, tcp: h.TCPSocket, sleep: h.Sleep}, path.Child(hook.name))...)
		}
	}
	return errs
}

// action is what a probe or a hook of the lifecycle does: exactly one of these.
type action struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

func (c *specCheck) handler(do action, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	given := 0
	try := func(name string, set bool, validate func(*field.Path) field.ErrorList) {
		switch {
		case !set:
		case given > 0:
			errs = append(errs, field.Forbidden(path.Child(name), "may not specify more than 1 handler type"))
		default:
			given++
			errs = append(errs, validate(path.Child(name))...)
		}
	}
	try("exec", do.exec != nil, func(at *field.Path) field.ErrorList {
		if len(do.exec.Command) > 0 {
			return nil
		}
		return field.ErrorList{field.Required(at.Child("command"), "")}
	})
	try("httpGet", do.http != nil, func(at *field.Path) field.ErrorList { return validateHTTPGet(do.http, at) })
	try("tcpSocket", do.tcp != nil, func(at *field.Path) field.ErrorList { return validatePort(do.tcp.Port, at.Child("port")) })
	try("grpc", do.grpc != nil, func(at *field.Path) field.ErrorList {
		return validatePort(intstr.FromInt32(do.grpc.Port), at.Child("port"))
	})
	try("sleep", do.sleep != nil, func(at *field.Path) field.ErrorList {
		grace := c.spec.TerminationGracePeriodSeconds
		if grace == nil || (do.sleep.Seconds >= 0 && do.sleep.Seconds <= *grace) {
			return nil
		}
		return field.ErrorList{field.Invalid(at, do.sleep.Seconds,
			fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))}
	})
	if given == 0 {
		errs = append(errs, field.Required(path, "must specify a handler type"))
	}
	return errs
}

func validateHTTPGet(get *corev1.HTTPGetAction, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if get.Path == "" {
		errs = append(errs, field.Required(path.Child("path"), ""))
	}
	errs = append(errs, validatePort(get.Port, path.Child("port"))...)
	errs = append(errs, oneOf(get.Scheme, []corev1.URIScheme{corev1.URISchemeHTTP, corev1.URISchemeHTTPS}, path.Child("scheme"))...)
	for _, header := range get.HTTPHeaders {
		errs = append(errs, invalidEach(path.Child("httpHeaders"), header.Name, validation.IsHTTPHeaderName(header.Name))...)
	}
	return errs
}

// validatePort checks a port that is given by number or by the name of a container's port.
func validatePort(port intstr.IntOrString, path *field.Path) field.ErrorList {
	switch port.Type {
	case intstr.Int:
		return invalidEach(path, port.IntValue(), validation.IsValidPortNum(port.IntValue()))
	case intstr.String:
		return invalidEach(path, port.StrVal, validation.IsValidPortName(port.StrVal))
	default:
		return field.ErrorList{field.InternalError(path, fmt.Errorf("unknown type: %v", port.Type))}
	}
}
