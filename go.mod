module github.com/musterkube/muster

go 1.26.0

require (
	github.com/emicklei/go-restful/v3 v3.13.0 // k8s.io/apiserver hands its routes over in it
	github.com/go-jose/go-jose/v4 v4.1.9 // tokens of ServiceAccounts: the maintained line of what Kubernetes signs them with
	github.com/go-logr/logr v1.4.3 // loggers that users pass in, as in all of Kubernetes
	github.com/google/btree v1.1.3 // the index of the in-memory store, as in etcd
	github.com/google/go-cmp v0.7.0 // differences of objects, in tests
	github.com/prometheus/client_golang v1.24.0 // metrics in a registry of the caller, where component-base has one for the process
	github.com/robfig/cron/v3 v3.0.1 // the schedules of CronJobs, read as a kube-apiserver reads them
	github.com/spf13/pflag v1.0.10 // flags of the programs, as in all of Kubernetes
	github.com/stretchr/testify v1.11.1 // assertions, in tests
	github.com/vbauerster/cupwriter v0.0.5 // what mpb writes to terminals with, which is told how many lines it has
	github.com/vbauerster/mpb/v8 v8.16.2 // live progress of examples/run-job below what it prints; of the well-kept libraries the one with the fewest others behind it, and no input of its own
	go.etcd.io/etcd/api/v3 v3.7.0 // the messages that the in-memory store speaks with the storage of k8s.io/apiserver
	go.etcd.io/etcd/client/v3 v3.7.0 // the client interface that the storage of k8s.io/apiserver is built on
	go.uber.org/zap v1.27.1 // the logger of etcd's client, to silence it
	go.yaml.in/yaml/v3 v3.0.4 // manifests read document by document, with the lines of errors
	golang.org/x/net v0.57.0 // HTTP/2 over connections that send in larger pieces
	golang.org/x/term v0.45.0 // whether examples/run-job writes to a terminal, and how large it is
	google.golang.org/grpc v1.82.1 // the status codes of etcd errors
	google.golang.org/protobuf v1.36.12-0.20260120151049-f2248ac996af // the wire format of API objects, in tests of the generated code
	gopkg.in/evanphx/json-patch.v4 v4.13.0 // JSON merge patches as the library applies them, to compare with in tests
	k8s.io/api v0.37.2 // the types of the APIs that are served
	k8s.io/apiextensions-apiserver v0.37.2 // custom resources: their definitions, controllers and handlers are the real ones
	k8s.io/apimachinery v0.37.2 // what every API object is made of
	k8s.io/apiserver v0.37.2 // the API server: handlers, registry and storage are the real ones
	k8s.io/client-go v0.37.2 // clients, informers, work queues, leader election
	k8s.io/component-base v0.37.2 // the version that k8s.io/apiserver reports, and its feature gates
	k8s.io/component-helpers v0.37.2 // node affinity as kube-scheduler matches it
	k8s.io/klog/v2 v2.140.0 // the logger of the libraries
	k8s.io/kube-openapi v0.0.0-20260721132016-d427ff9ee9ad // OpenAPI documents; k8s.io/apiserver takes its types
	k8s.io/utils v0.0.0-20260626114624-be93311217bd // clocks that tests can replace
	sigs.k8s.io/json v0.0.0-20250730193827-2d320260d730 // JSON as API servers read it: by exact names, with strict errors
	sigs.k8s.io/randfill v1.0.0 // random objects, in tests
	sigs.k8s.io/structured-merge-diff/v6 v6.4.2 // the schema of server-side apply
	sigs.k8s.io/yaml v1.6.0 // YAML as Kubernetes reads it
)

require (
	cel.dev/expr v0.25.1 // indirect
	github.com/NYTimes/gziphandler v1.1.1 // indirect
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/acarl005/stripansi v0.0.0-20180116102854-5a71ef0e047d // indirect
	github.com/antlr4-go/antlr/v4 v4.13.1 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/blang/semver/v4 v4.0.0 // indirect
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/coreos/go-semver v0.3.1 // indirect
	github.com/coreos/go-systemd/v22 v22.7.0 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/felixge/httpsnoop v1.0.4 // indirect
	github.com/fsnotify/fsnotify v1.9.0 // indirect
	github.com/fxamacker/cbor/v2 v2.9.1 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/go-openapi/jsonpointer v1.0.0 // indirect
	github.com/go-openapi/jsonreference v1.0.0 // indirect
	github.com/go-openapi/swag v0.27.1 // indirect
	github.com/go-openapi/swag/cmdutils v0.27.1 // indirect
	github.com/go-openapi/swag/conv v0.27.1 // indirect
	github.com/go-openapi/swag/fileutils v0.27.1 // indirect
	github.com/go-openapi/swag/jsonutils v0.27.1 // indirect
	github.com/go-openapi/swag/loading v0.27.1 // indirect
	github.com/go-openapi/swag/mangling v0.27.1 // indirect
	github.com/go-openapi/swag/netutils v0.27.1 // indirect
	github.com/go-openapi/swag/pools v0.27.1 // indirect
	github.com/go-openapi/swag/stringutils v0.27.1 // indirect
	github.com/go-openapi/swag/typeutils v0.27.1 // indirect
	github.com/go-openapi/swag/yamlutils v0.27.1 // indirect
	github.com/gogo/protobuf v1.3.2 // indirect
	github.com/golang/protobuf v1.5.4 // indirect
	github.com/google/cel-go v0.29.2 // indirect
	github.com/google/gnostic-models v0.7.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus v1.1.0 // indirect
	github.com/grpc-ecosystem/go-grpc-middleware/v2 v2.3.3 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.29.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/kylelemons/godebug v1.1.0 // indirect
	github.com/mattn/go-runewidth v0.0.30 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.3-0.20250322232337-35a7c28c31ee // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/prometheus/client_model v0.6.2 // indirect
	github.com/prometheus/common v0.70.0 // indirect
	github.com/prometheus/procfs v0.21.1 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	go.etcd.io/etcd/client/pkg/v3 v3.7.0 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc v0.68.0 // indirect
	go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp v0.69.0 // indirect
	go.opentelemetry.io/otel v1.44.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlptrace v1.44.0 // indirect
	go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc v1.44.0 // indirect
	go.opentelemetry.io/otel/metric v1.44.0 // indirect
	go.opentelemetry.io/otel/sdk v1.44.0 // indirect
	go.opentelemetry.io/otel/trace v1.44.0 // indirect
	go.opentelemetry.io/proto/otlp v1.10.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
	golang.org/x/crypto v0.54.0 // indirect
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f // indirect
	golang.org/x/mod v0.37.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.40.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	golang.org/x/tools v0.47.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260526163538-3dc84a4a5aaa // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260526163538-3dc84a4a5aaa // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	k8s.io/code-generator v0.37.2 // indirect
	k8s.io/gengo/v2 v2.0.0-20260408192533-25e2208e0dc3 // indirect
	k8s.io/streaming v0.37.2 // indirect
	sigs.k8s.io/apiserver-network-proxy/konnectivity-client v0.36.0 // indirect
)

tool (
	k8s.io/code-generator/cmd/applyconfiguration-gen
	k8s.io/code-generator/cmd/client-gen
	k8s.io/code-generator/cmd/deepcopy-gen
	k8s.io/code-generator/cmd/defaulter-gen
	k8s.io/code-generator/cmd/go-to-protobuf
	k8s.io/code-generator/cmd/go-to-protobuf/protoc-gen-gogo
	k8s.io/code-generator/cmd/informer-gen
	k8s.io/code-generator/cmd/lister-gen
	k8s.io/code-generator/cmd/validation-gen
	k8s.io/kube-openapi/cmd/openapi-gen
)
