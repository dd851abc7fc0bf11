package emulator_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/emulator"
)

// A controller's own role is tested by running the controller as its ServiceAccount.
func ExampleServer_ServiceAccountConfig() {
	ctx := context.Background()
	server, err := emulator.Start(ctx, emulator.Options{RBAC: true})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	admin := kubernetes.NewForConfigOrDie(server.Config())
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "controller"}}
	if _, err := admin.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
	config, err := server.ServiceAccountConfig(ctx, "default", "controller")
	if err != nil {
		log.Fatal(err)
	}
	controller := kubernetes.NewForConfigOrDie(config)
	_, err = controller.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{})
	fmt.Println(err)

	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "controller"},
		RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "controller"}},
	}
	if _, err := admin.RbacV1().RoleBindings("default").Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
	jobs, err := controller.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(jobs.Items), "jobs")
	// Output:
	// jobs.batch is forbidden: User "system:serviceaccount:default:controller" cannot list resource "jobs" in API group "batch" in the namespace "default"
	// 0 jobs
}

func ExampleServer_ConfigFor() {
	ctx := context.Background()
	server, err := emulator.Start(ctx, emulator.Options{
		RBAC:   true,
		Tokens: map[string]emulator.User{"s3cret": {Name: "ann", Groups: []string{"dev"}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	config, err := server.ConfigFor("ann")
	if err != nil {
		log.Fatal(err)
	}
	_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Secrets("default").Get(ctx, "token", metav1.GetOptions{})
	fmt.Println(err)
	// Output: secrets "token" is forbidden: User "ann" cannot get resource "secrets" in API group "" in the namespace "default"
}
