package guard

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnExclusiveGuardLetsOneRunAtATime(t *testing.T) {
	var guard Exclusive
	leave, err := guard.Enter("running a thing")
	require.NoError(t, err)
	_, err = guard.Enter("running a thing")
	require.EqualError(t, err, "running a thing: it runs already, and not twice at a time")
	leave()
	leave, err = guard.Enter("running a thing")
	require.NoError(t, err, "the first has ended")
	leave()
}

func TestOnceIsOnce(t *testing.T) {
	var once Once
	require.NoError(t, once.Enter("starting a thing"))
	require.EqualError(t, once.Enter("starting a thing"), "starting a thing: it runs already or has run: make another one with New")
}
