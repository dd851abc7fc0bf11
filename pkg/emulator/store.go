package emulator

import (
	"context"
	"fmt"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.uber.org/zap"
	"google.golang.org/grpc/status"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/etcdmem"
	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

const (
	// defaultPrefix is where a kube-apiserver keeps everything unless it is told otherwise (--etcd-prefix).
	defaultPrefix = "/registry"
	// defaultAge is how long a kube-apiserver has etcd remember (--etcd-compaction-interval).
	defaultAge = 5 * time.Minute

	// etcdStartTimeout is how long Start waits for an etcd cluster to answer.
	etcdStartTimeout = 10 * time.Second
	// etcdReasonTimeout is how long it then waits to be told why not.
	etcdReasonTimeout = time.Second
	// The rest is as a kube-apiserver has it.
	etcdDialTimeout      = 20 * time.Second
	etcdKeepAlive        = 30 * time.Second
	etcdKeepAliveTimeout = 10 * time.Second
)

// openStore makes the store, or connects to that of others, and a client of it. Ctx bounds the start, life the client.
func (s *Server) openStore(ctx, life context.Context, options Options) error {
	if len(options.Etcd) > 0 {
		return s.openEtcd(ctx, life, options)
	}
	var err error
	if options.Restore == nil {
		s.memory, err = mvcc.New(options.History.store())
	} else {
		s.memory, err = mvcc.Restore(options.Restore.state, options.History.store())
	}
	if err != nil {
		return err
	}
	s.release = append(s.release, s.memory.Close)
	s.store = etcdmem.Client(life, s.memory)
	s.release = append(s.release, func() { _ = s.store.Close() })
	return nil
}

// openEtcd connects to an etcd cluster, and has it forget what is too old. Its client logs nothing: what goes wrong comes
// back as an error of the request concerned.
func (s *Server) openEtcd(ctx, life context.Context, options Options) error {
	client, err := kubernetes.New(clientv3.Config{
		Context:              life,
		Endpoints:            options.Etcd,
		TLS:                  options.EtcdTLS,
		DialTimeout:          etcdDialTimeout,
		DialKeepAliveTime:    etcdKeepAlive,
		DialKeepAliveTimeout: etcdKeepAliveTimeout,
		Logger:               zap.NewNop(),
	})
	if err != nil {
		return fmt.Errorf("making a client of etcd at %s: %w", strings.Join(options.Etcd, ", "), err)
	}
	s.store = client
	s.release = append(s.release, func() { _ = client.Close() })

	if err := reach(ctx, client, options.EtcdPrefix+healthKey); err != nil {
		return fmt.Errorf("reaching etcd at %s: %w", strings.Join(options.Etcd, ", "), err)
	}
	if options.History.Age > 0 {
		// Several servers on one cluster agree on which of them does it.
		compactor := etcd3.NewCompactor(client.Client, options.History.Age, clock.RealClock{}, nil)
		s.release = append(s.release, compactor.Stop)
	}
	return nil
}

// reach waits until etcd answers, and says why it does not if that takes too long.
func reach(ctx context.Context, client *kubernetes.Client, key string) error {
	trying, cancel := context.WithTimeout(ctx, etcdStartTimeout)
	defer cancel()
	_, err := client.Kubernetes.Get(trying, key, kubernetes.GetOptions{})
	if trying.Err() == nil {
		return err
	}
	// The client has tried again and again, and tells only that time is up. Straight on its connection, the reason comes
	// back at once.
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), etcdReasonTimeout)
	defer cancel()
	if _, reason := pb.NewKVClient(client.ActiveConnection()).Range(asking, &pb.RangeRequest{Key: []byte(key)}); reason != nil {
		return fmt.Errorf("no answer yet: %w: %s", err, status.Convert(reason).Message())
	}
	return err
}

// completeStore fills in the defaults of the options that say where objects are.
func (o Options) completeStore() Options {
	if len(o.Etcd) > 0 && o.History.Age == 0 {
		o.History.Age = defaultAge
	}
	if o.EtcdPrefix == "" {
		o.EtcdPrefix = defaultPrefix
	}
	o.EtcdPrefix = etcdPrefix(o.EtcdPrefix)
	o.EtcdTLS = o.EtcdTLS.Clone() // nil stays nil
	return o
}

// etcdPrefix returns a prefix as keys have it: with a slash before it and none behind.
func etcdPrefix(prefix string) string { return "/" + strings.Trim(prefix, "/") }
