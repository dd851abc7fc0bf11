// Package openapi makes the OpenAPI documents that the emulator serves and the type converter that server-side apply
// merges by, all on first use: together they cost more than ten times what starting a server does, and most servers
// are never asked.
//
// [Install] serves /openapi/v2 and /openapi/v3 for a set of web services; [TypeConverter] is a
// [managedfields.TypeConverter] that builds itself. What is built depends on nothing but the served resources, so it is
// kept for the process and shared by its servers. The builders of kube-openapi write to the definitions that they are
// given, therefore one lock spans every build and no two builds share definitions.
//
// Fields that the Go types have and Kubernetes 1.36 has not are left out, and the definitions of Workload and PodGroup
// have the names that Kubernetes gives them. The package knows no custom resources.
package openapi
