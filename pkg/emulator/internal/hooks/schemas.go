package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/klog/v2"
	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/musterkube/muster/pkg/emulator/internal/openapi"
	"github.com/musterkube/muster/pkg/emulator/internal/scheme"
)

// schemas has the schemas by which mutating policies apply configurations. Those of the built-in kinds are there; those
// of custom ones are read from the server's OpenAPI documents.
type schemas struct {
	ctx     context.Context //nolint:containedctx // the life of the server, with its logger
	clients func() (clients, error)

	mu   sync.Mutex
	read map[schema.GroupVersion]document
}

// document is a converter made from the document at a URL, which tells one state of the document from the next.
type document struct {
	url       string
	converter managedfields.TypeConverter
}

var _ patch.TypeConverterManager = (*schemas)(nil)

// Run implements patch.TypeConverterManager. There is nothing to keep running.
func (*schemas) Run(context.Context) {}

// GetTypeConverter implements patch.TypeConverterManager. It returns nil if there is no schema, as the library expects.
func (s *schemas) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	if scheme.New().Recognizes(kind) {
		return openapi.TypeConverter(kind.Group)
	}
	converter, err := s.custom(kind.GroupVersion())
	if err != nil {
		klog.FromContext(s.ctx).Error(err, "No schema for a mutating policy", "kind", kind)
		return nil
	}
	return converter
}

func (s *schemas) custom(version schema.GroupVersion) (managedfields.TypeConverter, error) {
	connected, err := s.clients()
	if err != nil {
		return nil, err
	}
	paths, err := connected.kubernetes.Discovery().OpenAPIV3().Paths()
	if err != nil {
		return nil, fmt.Errorf("reading the list of OpenAPI documents: %w", err)
	}
	path, found := paths["apis/"+strings.TrimPrefix(version.String(), "/")]
	if !found {
		return nil, fmt.Errorf("there is no OpenAPI document of %s", version)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.read[version]; ok && known.url == path.ServerRelativeURL() {
		return known.converter, nil
	}
	data, err := path.Schema(runtime.ContentTypeJSON)
	if err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document of %s: %w", version, err)
	}
	var parsed spec3.OpenAPI
	if err := json.Unmarshal(data, &parsed); err != nil {
		return nil, fmt.Errorf("decoding the OpenAPI document of %s: %w", version, err)
	}
	if parsed.Components == nil {
		return nil, fmt.Errorf("the OpenAPI document of %s has no schemas", version)
	}
	converter, err := managedfields.NewTypeConverter(parsed.Components.Schemas, false)
	if err != nil {
		return nil, fmt.Errorf("converting by the OpenAPI document of %s: %w", version, err)
	}
	s.read[version] = document{path.ServerRelativeURL(), converter}
	return converter, nil
}
