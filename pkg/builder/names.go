package builder

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
)

// digestLength is the number of characters of the hash that ends a name of our own. It is longer than the ten
// characters at most of the built-in hash, so that no name of ours can equal a built-in one.
const digestLength = 16

// WorkloadName returns the name of the Workload of an owner, a Job for instance, of that name and UID:
// the owner's name and a hash of its UID, so that an owner which is deleted and made anew gets a new Workload.
// It is a valid name (a DNS subdomain, of 253 characters at most) whatever the owner's name is, unless
// opts.BuiltInNames is set: the built-in controller cuts a name of more than 242 characters where it may end in a dot.
func WorkloadName(ownerName string, uid types.UID, opts Options) string {
	// The built-in controller hashes the printed form of the Go value, type included.
	hash := builtInHash("(types.UID)", string(uid))
	name := cut(ownerName, validation.DNS1123SubdomainMaxLength-len(hash)-1) + "-" + hash
	if opts.BuiltInNames || len(validation.IsDNS1123Subdomain(name)) == 0 {
		return name
	}
	return shortened(validation.DNS1123SubdomainMaxLength, digest("workload", ownerName, string(uid)), ownerName)
}

// TemplateName returns the name of the one template in the Workload of a Job of that name. It is a valid name
// (a DNS label, of 63 characters at most) whatever the Job's name is, unless opts.BuiltInNames is set: the built-in
// controller makes a name that the API server refuses for a Job whose name has 58 characters or more, or a dot.
// Different Job names give different template names.
func TemplateName(jobName string, opts Options) string {
	name := jobName + "-pgt-0"
	if opts.BuiltInNames || len(validation.IsDNS1123Label(name)) == 0 {
		return name
	}
	return shortened(validation.DNS1123LabelMaxLength, digest("template", jobName), jobName, "pgt")
}

// PodGroupName returns the name of the PodGroup that is made from one template of a Workload: both names and a hash of
// both. It is a valid name (a DNS subdomain, of 253 characters at most) whatever the two names are, unless
// opts.BuiltInNames is set: the built-in controller cuts long names where they may end in a dot.
func PodGroupName(workloadName, templateName string, opts Options) string {
	hash := builtInHash(workloadName, templateName)
	workload, template := share(validation.DNS1123SubdomainMaxLength-len(hash)-2, workloadName, templateName)
	name := workload + "-" + template + "-" + hash
	if opts.BuiltInNames || len(validation.IsDNS1123Subdomain(name)) == 0 {
		return name
	}
	return shortened(validation.DNS1123SubdomainMaxLength, digest("podgroup", workloadName, templateName), workloadName, templateName)
}

// builtInHash returns the 32-bit FNV-1a sum of the texts one after the other, in decimal and then in the letters that
// Kubernetes uses for generated names, which spell no words: ten characters at most.
func builtInHash(texts ...string) string {
	sum := fnv.New32a()
	for _, text := range texts {
		sum.Write([]byte(text))
	}
	return rand.SafeEncodeString(strconv.FormatUint(uint64(sum.Sum32()), 10))
}

// share cuts two texts so that together they are no longer than budget: each may have half of it, and what one of
// them leaves over goes to the other. The odd character goes to the first.
func share(budget int, first, second string) (string, string) {
	half := budget / 2
	switch {
	case len(first)+len(second) <= budget:
		return first, second
	case len(first) <= half:
		return first, cut(second, budget-len(first))
	case len(second) <= half:
		return cut(first, budget-len(second)), second
	default:
		return cut(first, budget-half), cut(second, half)
	}
}

// shortened joins what fits of the parts, then the hash, with dashes into a DNS label of limit characters at most.
// Only the first two parts are given room; the parts need not be valid names.
func shortened(limit int, hash string, parts ...string) string {
	budget := limit - len(hash) - len(parts)
	for i, part := range parts {
		parts[i] = label(part)
	}
	if len(parts) == 1 {
		parts[0] = cut(parts[0], budget)
	} else {
		parts[0], parts[1] = share(budget, parts[0], parts[1])
	}
	kept := parts[:0]
	for _, part := range parts {
		if part = strings.Trim(part, "-"); part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(append(kept, hash), "-")
}

// label puts a dash in place of each byte that a DNS label may not have, and lower case in place of upper case.
func label(text string) string {
	bytes := []byte(strings.ToLower(text))
	for i, b := range bytes {
		if (b < 'a' || b > 'z') && (b < '0' || b > '9') {
			bytes[i] = '-'
		}
	}
	return string(bytes)
}

// cut returns the first n bytes of text, or all of it if it has fewer.
func cut(text string, n int) string {
	return text[:min(len(text), n)]
}

// digest returns a hash of the texts that is long enough for two names in one cluster never to meet. Each text is
// hashed with its length, so that where one ends and the next begins counts too.
func digest(texts ...string) string {
	sum := sha256.New()
	for _, text := range texts {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		sum.Write([]byte(text))
	}
	return hex.EncodeToString(sum.Sum(nil))[:digestLength]
}
