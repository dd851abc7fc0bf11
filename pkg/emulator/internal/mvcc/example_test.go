package mvcc_test

import (
	"context"
	"fmt"

	"github.com/musterkube/muster/pkg/emulator/internal/mvcc"
)

func Example() {
	db, err := mvcc.New(mvcc.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	first, _ := db.Put("/jobs/a", []byte("pending"), 0)
	_, _ = db.Put("/jobs/a", []byte("running"), 0)
	_, _, _ = db.Delete(mvcc.Single("/jobs/a"))

	then, now, _ := db.Get("/jobs/a", first)
	fmt.Printf("at revision %d it was %s; now, at %d, it is gone\n", first, then.Value, now)

	watcher, _ := db.Watch(mvcc.Prefix("/jobs/"), first+1)
	defer watcher.Stop()
	events, _ := watcher.Next(context.Background())
	for _, event := range events {
		if event.IsDelete() {
			fmt.Printf("%d: %s was deleted, it was %s\n", event.KV.ModRevision, event.KV.Key, event.Prev.Value)
		} else {
			fmt.Printf("%d: %s became %s, it was %s\n", event.KV.ModRevision, event.KV.Key, event.KV.Value, event.Prev.Value)
		}
	}
	// Output:
	// at revision 2 it was pending; now, at 4, it is gone
	// 3: /jobs/a became running, it was pending
	// 4: /jobs/a was deleted, it was running
}

func ExampleDB_PutIf() {
	db, err := mvcc.New(mvcc.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	created, _ := db.PutIf("/jobs/a", []byte("mine"), 0, 0)
	late, _ := db.PutIf("/jobs/a", []byte("yours"), 0, 0)
	fmt.Println("created:", created.Succeeded, "at", created.Revision)
	fmt.Printf("created again: %t, it is %s since %d\n", late.Succeeded, late.Current.Value, late.Current.ModRevision)
	// Output:
	// created: true at 2
	// created again: false, it is mine since 2
}
