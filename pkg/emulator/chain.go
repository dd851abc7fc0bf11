package emulator

import (
	"net/http"
	"runtime/debug"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/filters/impersonation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"

	"github.com/musterkube/muster/pkg/emulator/internal/drain"
	"github.com/musterkube/muster/pkg/emulator/internal/patches"
	"github.com/musterkube/muster/pkg/emulator/internal/stack"
)

// panicMessage is what a client gets from a kube-apiserver that ran into a panic.
const panicMessage = "This request caused apiserver to panic. Look in the logs for details."

// chain returns what stands between the door and the resources, as a function that genericapiserver calls. It is the
// chain of a kube-apiserver less what needs a cluster round it or a process of its own: priority and fairness, audit
// backends, CORS, tracing, request logging, and the goroutine that answers 504 for handlers that ignore their deadline.
// Read it from the bottom: the last filter is the first that a request meets.
func chain(logger logr.Logger, requests *drain.Drain) func(http.Handler, *genericapiserver.Config) http.Handler {
	return func(handler http.Handler, c *genericapiserver.Config) http.Handler {
		handler = patches.Handler(handler, c.MaxRequestBodyBytes)
		handler = filters.WithAuthorization(handler, c.Authorization.Authorizer, c.Serializer)
		handler = impersonation.WithConstrainedImpersonation(handler, c.Authorization.Authorizer, c.Serializer)
		handler = filters.WithAuthentication(handler, c.Authentication.Authenticator, filters.Unauthorized(c.Serializer),
			c.Authentication.APIAudiences, c.Authentication.RequestHeaderConfig)
		handler = filters.WithWarningRecorder(handler)
		handler = filters.WithRequestDeadline(handler, nil, nil, c.LongRunningFunc, c.Serializer, c.RequestTimeout)
		handler = filters.WithCacheControl(handler)
		handler = requests.Handler(handler, stopped(c.Serializer), endless(c.LongRunningFunc))
		handler = filters.WithRequestInfo(handler, c.RequestInfoResolver)
		handler = filters.WithRequestReceivedTimestamp(handler)
		handler = withPanicRecovery(handler)
		handler = filters.WithAuditInit(handler)
		handler = withLogger(handler, logger)
		handler = withHeaderLimit(handler)
		handler = withStack(handler)
		return handler
	}
}

// withStack gives the goroutine of a request the stack that it is going to need.
func withStack(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stack.Reserve()
		handler.ServeHTTP(w, r)
	})
}

// withLogger makes the code below log to logger wherever it asks the request's context for one.
func withLogger(handler http.Handler, logger logr.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(klog.NewContext(r.Context(), logger)))
	})
}

// withPanicRecovery answers 500 for a handler that panics. The one of genericapiserver goes on panicking, which net/http
// would catch but a caller of the handler would not, and logs to the process's own log.
func withPanicRecovery(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			fault := recover()
			switch fault {
			case nil:
				return
			case http.ErrAbortHandler:
				panic(fault) // the agreed way to cut a response off; it is for the server below
			}
			klog.FromContext(r.Context()).Error(nil, "Request caused a panic", "panic", fault, "method", r.Method, "URI", r.RequestURI,
				"stack", string(debug.Stack()))
			http.Error(w, panicMessage, http.StatusInternalServerError)
		}()
		handler.ServeHTTP(w, r)
	})
}

// endless tells the requests that only end by being cancelled: watches, in the first place.
func endless(longRunning genericapirequest.LongRunningRequestCheck) func(*http.Request) bool {
	return func(r *http.Request) bool {
		info, found := genericapirequest.RequestInfoFrom(r.Context())
		return found && longRunning(r, info)
	}
}

// stopped answers requests that come through a door while the server is stopping or has been stopped.
func stopped(serializer runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		responsewriters.ErrorNegotiated(apierrors.NewServiceUnavailable(ErrStopped.Error()), serializer, schema.GroupVersion{}, w, r)
	})
}
