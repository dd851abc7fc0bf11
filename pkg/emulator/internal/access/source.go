package access

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/client/v3/kubernetes"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/musterkube/muster/pkg/emulator/internal/rbac"
)

// Source reads roles and bindings from the store.
//
// A policy is as new as the request that asks for it: each call compares the revision of the store with that of the
// policy at hand, and if anything was written since, the stored bytes of roles and bindings with those that it has
// decoded. There is nothing to keep up to date, then: no watch, no goroutine, and no other way of writing to the store
// than its own that would have to tell.
type Source struct {
	client *kubernetes.Client
	codec  runtime.Decoder
	prefix string

	latest atomic.Pointer[snapshot]
	// reading is held while the store is read after a change.
	reading sync.Mutex
}

// snapshot is a policy with what it was made of.
type snapshot struct {
	revision int64
	policy   *rbac.Policy
	decoded  [4]map[string]decoded
}

// decoded is an object with the bytes that it was decoded from.
type decoded struct {
	value  []byte
	object runtime.Object
}

// resources are the resources that make up a policy, in the order of snapshot.decoded.
var resources = [4]string{"roles", "rolebindings", "clusterroles", "clusterrolebindings"}

// NewSource returns a source for the store behind client, whose keys begin with prefix, such as /registry, and whose
// objects of rbac.authorization.k8s.io/v1 codec decodes.
func NewSource(client *kubernetes.Client, codec runtime.Decoder, prefix string) *Source {
	return &Source{client: client, codec: codec, prefix: prefix}
}

// Policy returns what roles and bindings say now.
func (s *Source) Policy(ctx context.Context) (*rbac.Policy, error) {
	revision, err := s.revision(ctx)
	if err != nil {
		return nil, err
	}
	if latest := s.latest.Load(); latest != nil && latest.revision == revision {
		return latest.policy, nil
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	// Another request may have read the store meanwhile, and there may have been writes.
	if revision, err = s.revision(ctx); err != nil {
		return nil, err
	}
	latest := s.latest.Load()
	if latest != nil && latest.revision == revision {
		return latest.policy, nil
	}
	next, err := s.read(ctx, latest)
	if err != nil {
		return nil, err
	}
	next.revision = revision
	s.latest.Store(next)
	return next.policy, nil
}

// revision returns the revision of the store. The key need not exist.
func (s *Source) revision(ctx context.Context) (int64, error) {
	response, err := s.client.Kubernetes.Get(ctx, s.prefix+"/roles", kubernetes.GetOptions{})
	if err != nil {
		return 0, fmt.Errorf("reading the revision of the store: %w", err)
	}
	return response.Revision, nil
}

// read returns what the store holds, with what is the same as before taken from there.
func (s *Source) read(ctx context.Context, before *snapshot) (*snapshot, error) {
	next := &snapshot{}
	changed := before == nil
	for i, resource := range resources {
		response, err := s.client.Kubernetes.List(ctx, s.prefix+"/"+resource+"/", kubernetes.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", resource, err)
		}
		var known map[string]decoded
		if before != nil {
			known = before.decoded[i]
		}
		if before != nil && same(response.Kvs, known) {
			next.decoded[i] = known
			continue
		}
		changed = true
		if next.decoded[i], err = s.decode(response.Kvs, known); err != nil {
			return nil, fmt.Errorf("reading %s: %w", resource, err)
		}
	}
	if changed {
		next.policy = rbac.NewPolicy(next.objects())
	} else {
		next.policy = before.policy
	}
	return next, nil
}

// same tells whether the store holds what is known, and nothing else.
func same(stored []*mvccpb.KeyValue, known map[string]decoded) bool {
	if len(stored) != len(known) {
		return false
	}
	for _, kv := range stored {
		if object, ok := known[string(kv.Key)]; !ok || !bytes.Equal(object.value, kv.Value) {
			return false
		}
	}
	return true
}

// decode decodes what is stored but not known.
func (s *Source) decode(stored []*mvccpb.KeyValue, known map[string]decoded) (map[string]decoded, error) {
	all := make(map[string]decoded, len(stored))
	for _, kv := range stored {
		key := string(kv.Key)
		if object, ok := known[key]; ok && bytes.Equal(object.value, kv.Value) {
			all[key] = object
			continue
		}
		object, _, err := s.codec.Decode(kv.Value, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("decoding what is stored as %s: %w", key, err)
		}
		all[key] = decoded{kv.Value, object}
	}
	return all, nil
}

// objects returns the roles and bindings.
func (s *snapshot) objects() rbac.Objects {
	return rbac.Objects{
		Roles:               typed[*rbacv1.Role](s.decoded[0]),
		RoleBindings:        typed[*rbacv1.RoleBinding](s.decoded[1]),
		ClusterRoles:        typed[*rbacv1.ClusterRole](s.decoded[2]),
		ClusterRoleBindings: typed[*rbacv1.ClusterRoleBinding](s.decoded[3]),
	}
}

// typed returns the objects of a type. Objects of another cannot be there but by a mistake of somebody who wrote to the
// store directly; they grant nothing.
func typed[T any](objects map[string]decoded) []T {
	all := make([]T, 0, len(objects))
	for _, object := range objects {
		if one, ok := object.object.(T); ok {
			all = append(all, one)
		}
	}
	return all
}
