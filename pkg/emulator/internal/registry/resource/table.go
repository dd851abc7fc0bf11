package resource

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
)

// Row is what a table says of one object.
type Row struct {
	// Cells hold one value for each column, in order.
	Cells []any
	// Conditions mark rows that kubectl may print differently, such as completed pods.
	Conditions []metav1.TableRowCondition
}

// Table makes the tables of a kind of the Go type T.
type Table[T any, P interface {
	*T
	runtime.Object
}] struct {
	ObjectTable
}

// NewTable returns the tables with the given columns, for which row makes the rows.
func NewTable[T any, P interface {
	*T
	runtime.Object
}](columns []metav1.TableColumnDefinition, row func(obj P) Row) *Table[T, P] {
	return &Table[T, P]{NewObjectTable(columns, func(obj runtime.Object) (Row, error) {
		typed, ok := obj.(P)
		if !ok {
			return Row{}, fmt.Errorf("printing a table: %T is not of the kind %T", obj, P(nil))
		}
		return row(typed), nil
	})}
}

var _ rest.TableConvertor = (*Table[corev1.Pod, *corev1.Pod])(nil)

// ObjectTable makes tables of any objects that its rows can be made of.
type ObjectTable struct {
	columns []metav1.TableColumnDefinition
	row     func(obj runtime.Object) (Row, error)
}

// NewObjectTable returns the tables with the given columns, for which row makes the rows. Where the Go type of the kind
// is known, [NewTable] is what to use.
func NewObjectTable(columns []metav1.TableColumnDefinition, row func(obj runtime.Object) (Row, error)) ObjectTable {
	return ObjectTable{columns: columns, row: row}
}

// ConvertToTable implements rest.TableConvertor for an object of the kind and for a list of them. Columns of every
// priority are in the table: it is up to the client to leave out the wide ones.
func (t ObjectTable) ConvertToTable(_ context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if wantsHeaders(options) {
		table.ColumnDefinitions = t.columns
	}
	add := func(obj runtime.Object) error {
		row, err := t.row(obj)
		if err != nil {
			return err
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: row.Cells, Conditions: row.Conditions, Object: runtime.RawExtension{Object: obj}})
		return nil
	}
	if !meta.IsListType(obj) {
		if err := add(obj); err != nil {
			return nil, err
		}
		if accessor, err := meta.CommonAccessor(obj); err == nil {
			table.ResourceVersion = accessor.GetResourceVersion()
		}
		return table, nil
	}
	table.Rows = []metav1.TableRow{}
	if err := meta.EachListItem(obj, add); err != nil {
		return nil, err
	}
	if list, err := meta.ListAccessor(obj); err == nil {
		table.ResourceVersion = list.GetResourceVersion()
		table.Continue = list.GetContinue()
		table.RemainingItemCount = list.GetRemainingItemCount()
	}
	return table, nil
}

func wantsHeaders(options runtime.Object) bool {
	table, ok := options.(*metav1.TableOptions)
	return !ok || table == nil || !table.NoHeaders
}

// Column returns a column of strings that is always printed.
func Column(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: description}
}

// WideColumn returns a column of strings that is printed on demand, by kubectl with -o wide.
func WideColumn(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Priority: 1, Description: description}
}

// NameColumn returns the column of the objects' names.
func NameColumn() metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"]}
}

// AgeColumn returns the column of the objects' ages.
func AgeColumn() metav1.TableColumnDefinition {
	return Column("Age", metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"])
}

// Since returns how long ago at was, in the short form of kubectl, <unknown> for no time at all.
func Since(now clock.PassiveClock, at time.Time) string {
	if at.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Since(at))
}

// OrNone returns text, or <none> for none.
func OrNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}

// Containers returns the names and the images of containers, each parted by commas.
func Containers(containers []corev1.Container) (names, images string) {
	var n, i []string
	for _, container := range containers {
		n, i = append(n, container.Name), append(i, container.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}
