package etcdmem

import (
	"context"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiserverfeatures "k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
)

// suitePackage holds the conformance suite that every storage.Interface of Kubernetes passes.
const suitePackage = "k8s.io/apiserver/pkg/storage/testing"

// suite maps the functions of the conformance suite to how they are run.
var suite = map[string]func(ctx context.Context, t *testing.T, e *suiteEnv){
	"RunTestCreate": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestCreate(ctx, t, e, e.checkStored)
	},
	"RunTestCreateWithTTL":                              plain(storagetesting.RunTestCreateWithTTL),
	"RunTestCreateWithKeyExist":                         plain(storagetesting.RunTestCreateWithKeyExist),
	"RunTestGet":                                        plain(storagetesting.RunTestGet),
	"RunTestUnconditionalDelete":                        plain(storagetesting.RunTestUnconditionalDelete),
	"RunTestConditionalDelete":                          plain(storagetesting.RunTestConditionalDelete),
	"RunTestDeleteWithSuggestion":                       plain(storagetesting.RunTestDeleteWithSuggestion),
	"RunTestDeleteWithSuggestionAndConflict":            plain(storagetesting.RunTestDeleteWithSuggestionAndConflict),
	"RunTestDeleteWithConflict":                         plain(storagetesting.RunTestDeleteWithConflict),
	"RunTestDeleteWithSuggestionOfDeletedObject":        plain(storagetesting.RunTestDeleteWithSuggestionOfDeletedObject),
	"RunTestValidateDeletionWithSuggestion":             plain(storagetesting.RunTestValidateDeletionWithSuggestion),
	"RunTestValidateDeletionWithOnlySuggestionValid":    plain(storagetesting.RunTestValidateDeletionWithOnlySuggestionValid),
	"RunTestPreconditionalDeleteWithSuggestion":         plain(storagetesting.RunTestPreconditionalDeleteWithSuggestion),
	"RunTestPreconditionalDeleteWithOnlySuggestionPass": plain(storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass),
	"RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError(ctx, t, e, e.codec.broken.Store)
	},
	"RunTestDeleteExpectedTransformOrDecodeError": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestDeleteExpectedTransformOrDecodeError(ctx, t, e, e.breakTransformer)
	},
	"RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(ctx, t, e)
	},
	"RunTestList": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestList(ctx, t, e, e.compact, false, e.lists)
	},
	"RunTestConsistentList": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestConsistentList(ctx, t, e, e.increaseRV, false, true, false)
	},
	"RunTestGetListNonRecursive": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestGetListNonRecursive(ctx, t, e.increaseRV, e)
	},
	"RunTestGetListRecursivePrefix": plain(storagetesting.RunTestGetListRecursivePrefix),
	"RunTestGetListWithErrorAggregation": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestGetListWithErrorAggregation(ctx, t, e.tolerant(), corruptError(ctx))
	},
	"RunTestGetListWithoutErrorAggregation": func(ctx context.Context, t *testing.T, _ *suiteEnv) {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, apiserverfeatures.AllowUnsafeMalformedObjectDeletion, false)
		storagetesting.RunTestGetListWithoutErrorAggregation(ctx, t, newSuiteEnv(t, false), corruptError(ctx))
	},
	"RunTestListContinuation": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestListContinuation(ctx, t, e, e.checkReads)
	},
	"RunTestListPaginationRareObject": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestListPaginationRareObject(ctx, t, e, e.checkReads)
	},
	"RunTestListContinuationWithFilter": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestListContinuationWithFilter(ctx, t, e, e.checkReads)
	},
	"RunTestListInconsistentContinuation": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestListInconsistentContinuation(ctx, t, e, e.compact)
	},
	"RunTestListResourceVersionMatch": prefixed(storagetesting.RunTestListResourceVersionMatch),
	"RunTestGuaranteedUpdate": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestGuaranteedUpdate(ctx, t, e, e.checkStored)
	},
	"RunTestGuaranteedUpdateWithTTL":                   plain(storagetesting.RunTestGuaranteedUpdateWithTTL),
	"RunTestGuaranteedUpdateChecksStoredData":          prefixed(storagetesting.RunTestGuaranteedUpdateChecksStoredData),
	"RunTestGuaranteedUpdateWithConflict":              plain(storagetesting.RunTestGuaranteedUpdateWithConflict),
	"RunTestGuaranteedUpdateWithSuggestionAndConflict": plain(storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict),
	"RunTestTransformationFailure":                     prefixed(storagetesting.RunTestTransformationFailure),
	"RunTestStats": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestStats(ctx, t, e, e.codec, e.transformer, false)
	},
	"RunTestListPaging":          plain(storagetesting.RunTestListPaging),
	"RunTestNamespaceScopedList": plain(storagetesting.RunTestNamespaceScopedList),
	"RunTestCompactRevision": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestCompactRevision(ctx, t, e, e.increaseRV, e.compact)
	},
	"RunTestKeySchema": plain(storagetesting.RunTestKeySchema),

	"RunTestWatch": plain(storagetesting.RunTestWatch),
	"RunTestWatchFromZero": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestWatchFromZero(ctx, t, e, e.compact)
	},
	"RunTestDeleteTriggerWatch":   plain(storagetesting.RunTestDeleteTriggerWatch),
	"RunTestWatchFromNonZero":     plain(storagetesting.RunTestWatchFromNonZero),
	"RunTestDelayedWatchDelivery": plain(storagetesting.RunTestDelayedWatchDelivery),
	"RunTestWatchError":           prefixed(storagetesting.RunTestWatchError),
	"RunTestWatchWithUnsafeDelete": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestWatchWithUnsafeDelete(ctx, t, e, corruptError(ctx))
	},
	"RunTestWatchContextCancel":                 plain(storagetesting.RunTestWatchContextCancel),
	"RunTestWatcherTimeout":                     plain(storagetesting.RunTestWatcherTimeout),
	"RunTestWatchDeleteEventObjectHaveLatestRV": plain(storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV),
	"RunTestWatchInitializationSignal":          plain(storagetesting.RunTestWatchInitializationSignal),
	"RunOptionalTestProgressNotify": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunOptionalTestProgressNotify(ctx, t, e, e.increaseRV)
	},
	"RunTestOptionalWatchBookmarksWithCorrectResourceVersion": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion(ctx, t, bookmarking{e})
	},
	"RunTestClusterScopedWatch":   plain(storagetesting.RunTestClusterScopedWatch),
	"RunTestNamespaceScopedWatch": plain(storagetesting.RunTestNamespaceScopedWatch),
	"RunTestWatchDispatchBookmarkEvents": func(ctx context.Context, t *testing.T, e *suiteEnv) {
		storagetesting.RunTestWatchDispatchBookmarkEvents(ctx, t, e, false)
	},
	"RunSendInitialEventsBackwardCompatibility": plain(storagetesting.RunSendInitialEventsBackwardCompatibility),
	"RunWatchSemantics":                         plain(storagetesting.RunWatchSemantics),
	"RunWatchSemanticInitialEventsExtended":     plain(storagetesting.RunWatchSemanticInitialEventsExtended),
	"RunWatchListMatchSingle":                   plain(storagetesting.RunWatchListMatchSingle),
	"RunWatchErrorIsBlockingFurtherEvents":      prefixed(storagetesting.RunWatchErrorIsBlockingFurtherEvents),
}

// leftOut maps those functions of the suite that are not run to the reason why they cannot be. There is none at present.
var leftOut = map[string]string{}

// plain runs a function that needs nothing but the store.
func plain(run func(context.Context, *testing.T, storage.Interface)) func(context.Context, *testing.T, *suiteEnv) {
	return func(ctx context.Context, t *testing.T, e *suiteEnv) { run(ctx, t, e) }
}

// prefixed runs a function that also wants to change the transformer.
func prefixed(run func(context.Context, *testing.T, storagetesting.InterfaceWithPrefixTransformer)) func(context.Context, *testing.T, *suiteEnv) {
	return func(ctx context.Context, t *testing.T, e *suiteEnv) { run(ctx, t, e) }
}

func TestConformance(t *testing.T) {
	declared := declaredFunctions(t)
	modes := map[string]struct{ rangeStream, viaKV bool }{
		"lists in one stream, writes straight to the store": {rangeStream: true},
		"lists in pages, everything through clientv3.KV":    {viaKV: true},
	}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, apiserverfeatures.EtcdRangeStream, mode.rangeStream)
			for _, function := range slices.Sorted(maps.Keys(suite)) {
				run := func(t *testing.T) {
					e := newSuiteEnv(t, mode.viaKV)
					// The suite expects a context that does not end with the test.
					suite[function](context.WithoutCancel(t.Context()), t, e)
				}
				t.Run(function, func(t *testing.T) {
					if declared[function].subtests {
						// A bubble of virtual time cannot have subtests.
						run(t)
						return
					}
					synctest.Test(t, run)
				})
			}
		})
	}
}

// TestConformanceIsComplete fails when the suite has a function, say after an upgrade, that is neither run nor left out.
func TestConformanceIsComplete(t *testing.T) {
	declared := declaredFunctions(t)
	require.NotEmpty(t, declared)
	for name := range declared {
		_, ran := suite[name]
		_, excused := leftOut[name]
		assert.True(t, ran != excused, "%s must be either run or left out with a reason: run %v, left out %v", name, ran, excused)
	}
	for name := range suite {
		assert.Contains(t, declared, name, "the suite has no such function")
	}
	for name, reason := range leftOut {
		assert.Contains(t, declared, name, "the suite has no such function")
		assert.NotEmpty(t, reason, "reason to leave out %s", name)
	}
}

// suiteFunction is what the source of the suite says about one of its functions.
type suiteFunction struct {
	// subtests says that it calls t.Run.
	subtests bool
}

// declaredFunctions reads the suite's source and returns its entry points: exported functions that begin with Run and
// take a test, not a benchmark.
func declaredFunctions(t *testing.T) map[string]suiteFunction {
	t.Helper()
	pkg, err := build.Import(suitePackage, ".", 0)
	require.NoError(t, err)
	functions := map[string]*ast.FuncDecl{}
	for _, file := range pkg.GoFiles {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, file), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range parsed.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil {
				functions[f.Name.Name] = f
			}
		}
	}
	declared := map[string]suiteFunction{}
	for name, f := range functions {
		if strings.HasPrefix(name, "Run") && takesTest(f) {
			declared[name] = suiteFunction{subtests: callsRun(functions, name, map[string]bool{})}
		}
	}
	return declared
}

func takesTest(f *ast.FuncDecl) bool {
	for _, field := range f.Type.Params.List {
		typ := field.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		if s, ok := typ.(*ast.SelectorExpr); ok && (s.Sel.Name == "T" || s.Sel.Name == "TB") {
			return true
		}
	}
	return false
}

// callsRun says whether a function calls t.Run, itself or through another function of its package.
func callsRun(functions map[string]*ast.FuncDecl, name string, visited map[string]bool) bool {
	f := functions[name]
	if f == nil || visited[name] {
		return false
	}
	visited[name] = true
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		switch callee := call.Fun.(type) {
		case *ast.Ident:
			found = callsRun(functions, callee.Name, visited)
		case *ast.SelectorExpr:
			x, ok := callee.X.(*ast.Ident)
			found = ok && x.Name == "t" && callee.Sel.Name == "Run"
		}
		return !found
	})
	return found
}
