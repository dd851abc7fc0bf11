module github.com/musterkube/muster/hack/tools

go 1.26.0

tool (
	github.com/jhump/goprotoc/cmd/goprotoc
	golang.org/x/tools/cmd/goimports
)

require (
	github.com/golang/protobuf v1.5.4 // indirect
	github.com/jhump/gopoet v0.0.0-20190322174617-17282ff210b3 // indirect
	github.com/jhump/goprotoc v0.5.0 // indirect
	github.com/jhump/protoreflect v1.11.0 // indirect
	golang.org/x/mod v0.37.0 // indirect
	golang.org/x/sync v0.21.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
	golang.org/x/telemetry v0.0.0-20260625142307-59b4966ccb57 // indirect
	golang.org/x/tools v0.47.0 // indirect
	google.golang.org/genproto v0.0.0-20200526211855-cb27e3aa2013 // indirect
	google.golang.org/protobuf v1.36.12-0.20260120151049-f2248ac996af // indirect
)
