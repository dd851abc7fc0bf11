// Package secret serves core/v1 Secrets. [New] is its entry point.
package secret
