package emulator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/musterkube/muster/pkg/emulator"
)

// refuse is a webhook that lets nothing pass. One that is made with sigs.k8s.io/controller-runtime is an http.Handler, too.
func refuse(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "not today"}}
	if err := json.NewEncoder(w).Encode(review); err != nil {
		log.Print(err)
	}
}

// A webhook without a socket: the server calls a handler in place of a Service.
func ExampleServer_HandleService() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := emulator.Start(ctx, emulator.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop()
	if err := server.HandleService("default/guard", http.HandlerFunc(refuse)); err != nil {
		log.Fatal(err)
	}

	client, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	service := &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "guard"}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    "guard.example.com",
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{Service: service},
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
	if _, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, configuration, metav1.CreateOptions{}); err != nil {
		log.Fatal(err)
	}
	_, err = client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	fmt.Println(err)
	// Output:
	// admission webhook "guard.example.com" denied the request: not today
}
