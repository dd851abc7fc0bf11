package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/musterkube/muster/pkg/emulator/internal/registry/resource"
)

// unset stands for a parameter that there is none of.
const unset = "<unset>"

func webhooksTable[T any, P object[T]](now clock.PassiveClock, count func(P) int) rest.TableConvertor {
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		{Name: "Webhooks", Type: "integer", Description: "Webhooks indicates the number of webhooks registered in this configuration"},
		resource.AgeColumn(),
	}, func(obj P) resource.Row {
		return resource.Row{Cells: []any{obj.GetName(), int64(count(obj)), resource.Since(now, obj.GetCreationTimestamp().Time)}}
	})
}

func policiesTable[T any, P object[T]](column, description string, now clock.PassiveClock,
	of func(P) (count int, params *admissionregistrationv1.ParamKind)) rest.TableConvertor {
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		{Name: column, Type: "integer", Description: description},
		resource.Column("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy"),
		resource.AgeColumn(),
	}, func(obj P) resource.Row {
		count, params := of(obj)
		kind := unset
		if params != nil {
			kind = params.APIVersion + "/" + params.Kind
		}
		return resource.Row{Cells: []any{obj.GetName(), int64(count), kind, resource.Since(now, obj.GetCreationTimestamp().Time)}}
	})
}

func bindingsTable[T any, P object[T]](now clock.PassiveClock, of func(P) (policy string, ref *admissionregistrationv1.ParamRef)) rest.TableConvertor {
	return resource.NewTable([]metav1.TableColumnDefinition{
		resource.NameColumn(),
		resource.Column("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to"),
		resource.Column("ParamRef", "ParamRef indicates the param resource which sets the configuration param"),
		resource.AgeColumn(),
	}, func(obj P) resource.Row {
		policy, ref := of(obj)
		return resource.Row{Cells: []any{obj.GetName(), policy, paramCell(ref), resource.Since(now, obj.GetCreationTimestamp().Time)}}
	})
}

// paramCell names a parameter. Whether its kind has namespaces is not to be seen from a binding.
func paramCell(ref *admissionregistrationv1.ParamRef) string {
	switch {
	case ref == nil:
		return unset
	case ref.Name != "" && ref.Namespace != "":
		return ref.Namespace + "/" + ref.Name
	case ref.Name != "":
		return "*/" + ref.Name
	case ref.Selector != nil:
		return ref.Selector.String()
	}
	return unset
}
