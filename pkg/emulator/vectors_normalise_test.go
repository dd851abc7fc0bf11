package emulator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What differs from run to run, and how it looks.
var (
	uidPattern    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	randomPattern = regexp.MustCompile(`\bgen-[a-z0-9]{5}\b|(a{50,})[a-z0-9]{5}\b`)
	datePattern   = regexp.MustCompile(`^\d{4}-`)
	timePattern   = regexp.MustCompile(`^20\d\d-\d\d-\d\dT[\d:.]+Z$`)

	messagePatterns = []struct {
		pattern     *regexp.Regexp
		replacement string
	}{
		{regexp.MustCompile(`resourceVersion: \d+`), `resourceVersion: <rv>`},
		{regexp.MustCompile(`(Too large resource version: )\d+, current: \d+`), `$1<rv>, current: <rv>`},
		{regexp.MustCompile(`in scheme "[^"]*"`), `in scheme "<scheme>"`},
		{regexp.MustCompile(`ResourceVersion in record \(\d+\)`), `ResourceVersion in record (<rv>)`},
		// How a server prints a whole object follows its internal Go types.
		{regexp.MustCompile(`Invalid value: (?:\{|\[\{).*?(?:\}|\}\]): `), `Invalid value: <object>: `},
	}
)

// sentUID is an identity that requests send: it is the same in every run.
const sentUID = "00000000-0000-0000-0000-000000000001"

// normalised returns an answer in the form of the recordings, with tokens for what differs from run to run.
func (r vectorResponse) normalised(namespace string) any {
	body := normalise(r.body, "", namespace)
	normaliseTable(body)
	answer := map[string]any{"code": json.Number(strconv.Itoa(r.code)), "body": body}
	if len(r.warnings) > 0 {
		warnings := make([]any, 0, len(r.warnings))
		for _, warning := range r.warnings {
			warnings = append(warnings, normaliseText(warning, "", namespace))
		}
		answer["warnings"] = warnings
	}
	return answer
}

// normalise replaces the texts of a document. key is the name of the field that holds it.
func normalise(value any, key, namespace string) any {
	switch value := value.(type) {
	case map[string]any:
		fields := make(map[string]any, len(value))
		for name, field := range value {
			fields[normaliseText(name, "", namespace)] = normalise(field, name, namespace)
		}
		return fields
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = normalise(item, "", namespace)
		}
		return items
	case string:
		return normaliseText(value, key, namespace)
	default:
		return value
	}
}

func normaliseText(text, key, namespace string) string {
	switch key {
	case "resourceVersion":
		if text != "" {
			return "<rv>"
		}
	case "continue":
		if text != "" {
			return "<continue>"
		}
	case "creationTimestamp", "deletionTimestamp", "time":
		if datePattern.MatchString(text) {
			return "<time>"
		}
	}
	// The times in the requests are all of one day, or of long ago. Others were set by the server.
	if timePattern.MatchString(text) && !strings.HasPrefix(text, "2026-01-01T") && !strings.HasPrefix(text, "2001-") {
		return "<time>"
	}
	text = uidPattern.ReplaceAllStringFunc(text, func(uid string) string {
		if uid == sentUID {
			return uid
		}
		return "<uid>"
	})
	text = randomPattern.ReplaceAllStringFunc(text, func(name string) string { return name[:len(name)-len("xxxxx")] + "<rand>" })
	for _, message := range messagePatterns {
		text = message.pattern.ReplaceAllString(text, message.replacement)
	}
	return strings.ReplaceAll(text, namespace, "$NS")
}

// normaliseTable replaces what in a table depends on the clock, and the prose about its columns.
func normaliseTable(document any) {
	table, _ := document.(map[string]any)
	if table["kind"] != "Table" {
		return
	}
	ages := map[int]bool{}
	columns, _ := table["columnDefinitions"].([]any)
	for i, column := range columns {
		column := column.(map[string]any)
		column["description"] = "<description>"
		ages[i] = column["name"] == "Age" || column["name"] == "Duration"
	}
	rows, _ := table["rows"].([]any)
	for _, row := range rows {
		cells, _ := row.(map[string]any)["cells"].([]any)
		for i := range cells {
			if ages[i] {
				cells[i] = "<age>"
			}
		}
	}
}

// differences lists what an answer has otherwise than the recorded one, by path.
func differences(want, got any) []string {
	return appendDifferences(nil, want, got, "")
}

func appendDifferences(list []string, want, got any, path string) []string {
	switch want := want.(type) {
	case map[string]any:
		if got, same := got.(map[string]any); same {
			return appendFieldDifferences(list, want, got, path)
		}
	case []any:
		if got, same := got.([]any); same && len(got) == len(want) {
			for i := range want {
				list = appendDifferences(list, want[i], got[i], fmt.Sprintf("%s[%d]", path, i))
			}
			return list
		}
	default:
		if assert.ObjectsAreEqual(want, got) {
			return list
		}
	}
	return append(list, fmt.Sprintf("%s: want %s, got %s", path, shortJSON(want), shortJSON(got)))
}

func appendFieldDifferences(list []string, want, got map[string]any, path string) []string {
	names := maps.Clone(want)
	maps.Copy(names, got)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		wanted, isWanted := want[name]
		gotten, isGotten := got[name]
		switch {
		case !isWanted:
			list = append(list, fmt.Sprintf("%s.%s: want nothing, got %s", path, name, shortJSON(gotten)))
		case !isGotten:
			list = append(list, fmt.Sprintf("%s.%s: want %s, got nothing", path, name, shortJSON(wanted)))
		default:
			list = appendDifferences(list, wanted, gotten, path+"."+name)
		}
	}
	return list
}

func shortJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	if len(text) > 400 {
		return string(text[:400]) + "..."
	}
	return string(text)
}

// readJSON reads a document without loss: numbers keep their spelling.
func readJSON(t *testing.T, text []byte) any {
	t.Helper()
	document, err := parseJSON(text)
	require.NoError(t, err)
	return document
}

func parseJSON(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("more than a document: %q", text[decoder.InputOffset():])
	}
	return document, nil
}

// readBody reads the body of an answer: a document if it is one, nothing if it is empty, and text otherwise.
func readBody(t *testing.T, body io.Reader) any {
	t.Helper()
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	if len(text) == 0 {
		return nil
	}
	if document, err := parseJSON(text); err == nil {
		return document
	}
	return string(text)
}

// escapePath escapes what a request line cannot hold, and leaves alone what has a meaning in it.
func escapePath(path string) string {
	var escaped strings.Builder
	for _, b := range []byte(path) {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte("_.-~/?&=%+,()!:", b) >= 0:
			escaped.WriteByte(b)
		default:
			fmt.Fprintf(&escaped, "%%%02X", b)
		}
	}
	return escaped.String()
}

// A comparison that overlooks something would let every test of this file's pass: each single change of an answer has
// to be found, at its path. One case in ten does: their answers are much alike.
func TestEachChangeOfARecordedAnswerIsADifference(t *testing.T) {
	t.Parallel()
	for _, cases := range loadVectors(t) {
		for i := 0; i < len(cases); i += 10 {
			recorded := cases[i]
			for _, step := range recorded.Steps {
				want, answer := readJSON(t, step.Response), readJSON(t, step.Response)
				require.Empty(t, differences(want, answer))
				eachChange(answer, "", func(path string) {
					found := differences(want, answer)
					if assert.Len(t, found, 1, "%s: %s", recorded.ID, path) {
						assert.True(t, strings.HasPrefix(found[0], path+": want "), "%s: %s: %s", recorded.ID, path, found[0])
					}
				})
			}
		}
	}
}

// eachChange changes one thing in a document at a time, calls visit with the path of it, and changes it back.
func eachChange(document any, path string, visit func(path string)) {
	switch document := document.(type) {
	case map[string]any:
		for name, value := range document {
			delete(document, name)
			visit(path + "." + name)
			if _, isObject := value.(map[string]any); !isObject {
				document[name] = "something else"
				visit(path + "." + name)
			}
			document[name] = value
			eachChange(value, path+"."+name, visit)
		}
		document["more"] = true
		visit(path + ".more")
		delete(document, "more")
	case []any:
		for i, item := range document {
			document[i] = nil
			visit(fmt.Sprintf("%s[%d]", path, i))
			document[i] = item
			eachChange(item, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	}
}

func TestNormalise(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, key, want string }{
		"a uid of the server":          {text: "uid: 1b4e28ba-2fa1-11d2-883f-0016d3cca427", want: "uid: <uid>"},
		"a uid that was sent":          {text: sentUID, want: sentUID},
		"a time of the server":         {text: "2026-11-29T20:22:00Z", want: "<time>"},
		"a time that was sent":         {text: "2026-01-01T20:22:00Z", want: "2026-01-01T20:22:00Z"},
		"a time in a field for it":     {text: "2026-01-01T20:22:00Z", key: "creationTimestamp", want: "<time>"},
		"a time inside a text":         {text: "at 2026-11-29T20:22:00Z", want: "at 2026-11-29T20:22:00Z"},
		"a resource version":           {text: "17", key: "resourceVersion", want: "<rv>"},
		"no resource version":          {text: "", key: "resourceVersion", want: ""},
		"a number elsewhere":           {text: "17", key: "message", want: "17"},
		"a generated name":             {text: `workloads "gen-x2b4z" not found`, want: `workloads "gen-<rand>" not found`},
		"a name that is like one":      {text: "gen-x2b4zz", want: "gen-x2b4zz"},
		"a long name that was cut off": {text: strings.Repeat("a", 58) + "x2b4z", want: strings.Repeat("a", 58) + "<rand>"},
		"the namespace":                {text: `in "v-0123456789"`, want: `in "$NS"`},
		"an object in a message":       {text: `spec: Invalid value: {"a":1}: no`, want: `spec: Invalid value: <object>: no`},
		"a text in a message":          {text: `spec: Invalid value: "a": no`, want: `spec: Invalid value: "a": no`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, normaliseText(tc.text, tc.key, "v-0123456789"))
		})
	}
}
