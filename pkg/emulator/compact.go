package emulator

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// Compact makes the server forget every resource version before the present one. Watches and lists that ask for an older
// one then fail with 410 Gone, and so do continue tokens of lists begun before; what is stored stays, and watches that
// run go on. It happens by itself too, as [Options].History says, but not soon: tests of how a client recovers ask for it.
func (s *Server) Compact(ctx context.Context) error {
	now, err := s.store.Kubernetes.Get(ctx, defaultPrefix, kubernetes.GetOptions{})
	if err != nil {
		return fmt.Errorf("compacting: reading the present revision: %w", err)
	}
	if _, err := s.store.Compact(ctx, now.Revision); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compacting up to revision %d: %w", now.Revision, err)
	}
	return nil
}
