package etcdmem_test

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/musterkube/muster/pkg/emulator/internal/etcdmem"
	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func ExampleClient() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	db, err := mvcc.New(mvcc.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	client := etcdmem.Client(ctx, db)
	defer func() { _ = client.Close() }()

	watch := client.Watch(ctx, "/registry/", clientv3.WithPrefix(), clientv3.WithPrevKV())
	_, _ = client.Put(ctx, "/registry/jobs/a", "pending")
	_, _ = client.Delete(ctx, "/registry/jobs/a")
	for seen := 0; seen < 2; {
		response := <-watch
		for _, event := range response.Events {
			fmt.Printf("%d %s %s\n", event.Kv.ModRevision, event.Type, event.Kv.Key)
			seen++
		}
	}
	// Output:
	// 2 PUT /registry/jobs/a
	// 3 DELETE /registry/jobs/a
}
