// Package configmap serves core/v1 ConfigMaps. [New] is its entry point.
package configmap
