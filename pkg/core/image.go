package core

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	// maxRepositoryLength is the longest repository path of an image reference, in bytes.
	maxRepositoryLength = 255
	// defaultRegistry is where an image name without a registry comes from.
	defaultRegistry = "docker.io"
)

// The grammar of image references (the distribution project's reference package), as far as it decides a tag.
var (
	imageReference = regexp.MustCompile(`^((?:(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])` +
		`(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?/)?` +
		`[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)` +
		`(?::(\w[\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`)
	imageDigest     = regexp.MustCompile(`^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$`)
	imageIdentifier = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

// pullPolicyFor is the pull policy of an image that names none: Always for the tag "latest", named or implied, and
// IfNotPresent for another tag, for a bare digest, and for what is no image reference at all.
func pullPolicyFor(image string) corev1.PullPolicy {
	if imageTag(image) == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

// imageTag returns the tag of an image reference, "latest" when it has neither tag nor digest, and "" when it has a
// digest alone or cannot be read.
func imageTag(image string) string {
	if image == "" || imageIdentifier.MatchString(image) {
		return ""
	}
	registry, path, found := strings.Cut(image, "/")
	switch {
	case !found || !looksLikeRegistry(registry):
		registry, path = defaultRegistry, image
	case registry == "index.docker.io":
		registry = defaultRegistry
	}
	if registry == defaultRegistry && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	if repository, _, _ := strings.Cut(path, ":"); repository != strings.ToLower(repository) {
		return ""
	}
	parts := imageReference.FindStringSubmatch(registry + "/" + path)
	if parts == nil || len(parts[1])-len(registry)-1 > maxRepositoryLength {
		return ""
	}
	if digest := parts[3]; digest != "" {
		if !imageDigest.MatchString(digest) {
			return ""
		}
		return parts[2]
	}
	if parts[2] == "" {
		return "latest"
	}
	return parts[2]
}

// looksLikeRegistry tells a registry from the first element of a path: it has a dot, a port or an upper case letter,
// or is localhost.
func looksLikeRegistry(name string) bool {
	return strings.ContainsAny(name, ".:") || name == "localhost" || name != strings.ToLower(name)
}
