package resource

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
)

func nameTable() *Table[corev1.ConfigMap, *corev1.ConfigMap] {
	return NewTable([]metav1.TableColumnDefinition{NameColumn(), WideColumn("Kind", "what it is")}, func(c *corev1.ConfigMap) Row {
		return Row{Cells: []any{c.Name, "map"}}
	})
}

func TestTableOfOne(t *testing.T) {
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7"}}
	table, err := nameTable().ConvertToTable(t.Context(), configMap, nil)
	require.NoError(t, err)
	assert.Equal(t, "7", table.ResourceVersion)
	require.Len(t, table.ColumnDefinitions, 2)
	assert.Equal(t, "name", table.ColumnDefinitions[0].Format)
	assert.Equal(t, int32(1), table.ColumnDefinitions[1].Priority)
	require.Len(t, table.Rows, 1)
	assert.Equal(t, []any{"a", "map"}, table.Rows[0].Cells)
	assert.Same(t, configMap, table.Rows[0].Object.Object)
}

func TestTableOfAList(t *testing.T) {
	left := int64(3)
	list := &corev1.ConfigMapList{
		ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more", RemainingItemCount: &left},
		Items:    []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}},
	}
	table, err := nameTable().ConvertToTable(t.Context(), list, &metav1.TableOptions{NoHeaders: true})
	require.NoError(t, err)
	assert.Equal(t, metav1.ListMeta{ResourceVersion: "9", Continue: "more", RemainingItemCount: &left}, table.ListMeta)
	assert.Empty(t, table.ColumnDefinitions)
	require.Len(t, table.Rows, 2)
	assert.Equal(t, "b", table.Rows[1].Cells[0])

	table, err = nameTable().ConvertToTable(t.Context(), &corev1.ConfigMapList{}, nil)
	require.NoError(t, err)
	assert.NotNil(t, table.Rows, "no rows are an empty list, not null")
}

func TestTableOfAnotherKind(t *testing.T) {
	_, err := nameTable().ConvertToTable(t.Context(), &corev1.Secret{}, nil)
	assert.ErrorContains(t, err, "*v1.Secret is not of the kind *v1.ConfigMap")
}

func TestSince(t *testing.T) {
	now := testingclock.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	assert.Equal(t, "90s", Since(now, now.Now().Add(-90*time.Second)))
	assert.Equal(t, "<unknown>", Since(now, time.Time{}))
}

func TestContainers(t *testing.T) {
	names, images := Containers([]corev1.Container{{Name: "a", Image: "x"}, {Name: "b", Image: "y"}})
	assert.Equal(t, "a,b", names)
	assert.Equal(t, "x,y", images)
}
