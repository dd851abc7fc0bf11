package job

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEverySwitchHasItsDeviation(t *testing.T) {
	on := reflect.ValueOf(deviationsOf(false))
	for i := range on.NumField() {
		assert.True(t, on.Field(i).Bool(), "no row switches %s on", on.Type().Field(i).Name)
	}
	assert.Equal(t, on.NumField(), len(Deviations()))
	assert.Zero(t, deviationsOf(true))
}

func TestReadmeListsEveryDeviation(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	require.NoError(t, err)
	for _, d := range Deviations() {
		assert.Contains(t, string(readme), "| "+d.Name+" | "+d.BuiltIn+" | "+d.Here+" |")
	}
}
