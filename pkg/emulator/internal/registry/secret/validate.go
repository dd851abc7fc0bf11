package secret

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/musterkube/muster/pkg/core"
)

var dataPath = field.NewPath("data")

func validate(secret *corev1.Secret) field.ErrorList {
	errs := core.ValidateObjectMeta(&secret.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	size := 0
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		for _, message := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(dataPath.Key(key), key, message))
		}
		size += len(secret.Data[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(dataPath, "", corev1.MaxSecretSize))
	}
	return append(errs, validateType(secret)...)
}

// validateType checks that the keys are there that the Secret's type promises.
func validateType(secret *corev1.Secret) field.ErrorList {
	switch secret.Type {
	case corev1.SecretTypeServiceAccountToken:
		if secret.Annotations[corev1.ServiceAccountNameKey] == "" {
			return field.ErrorList{field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), "")}
		}
	case corev1.SecretTypeDockercfg:
		return validateJSON(secret, corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		return validateJSON(secret, corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		// Either may be empty or missing, but not both missing.
		if missing := requireKeys(secret, corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey); len(missing) == 2 {
			return missing
		}
	case corev1.SecretTypeSSHAuth:
		if len(secret.Data[corev1.SSHAuthPrivateKey]) == 0 {
			return field.ErrorList{field.Required(dataPath.Key(corev1.SSHAuthPrivateKey), "")}
		}
	case corev1.SecretTypeTLS:
		return requireKeys(secret, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	return nil
}

func requireKeys(secret *corev1.Secret, keys ...string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range keys {
		if _, exists := secret.Data[key]; !exists {
			errs = append(errs, field.Required(dataPath.Key(key), ""))
		}
	}
	return errs
}

func validateJSON(secret *corev1.Secret, key string) field.ErrorList {
	if errs := requireKeys(secret, key); len(errs) > 0 {
		return errs
	}
	if err := json.Unmarshal(secret.Data[key], &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(dataPath.Key(key), "<secret contents redacted>", err.Error())}
	}
	return nil
}
