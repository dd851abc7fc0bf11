package emulatortest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/util/sets"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// columns are the cells of a line that has only its first, without which a table would begin anew.
const columns = "\t\t\t\t\t\t\t"

// mostMessage is how much of the text of a refusal is shown.
const mostMessage = 200

// trailing is what a table has at the ends of lines.
var trailing = regexp.MustCompile(`(?m) +$`)

// String returns a table of the requests that are remembered, in the order in which they came in: time, verb, resource,
// namespace and name, HTTP code, the resource version that a write led to or that a watch began at, user agent, and the
// message of a refusal.
func (r *Recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	fmt.Fprintf(&text, "The last of %d requests to the API server", r.count)
	if r.leases > 0 {
		fmt.Fprintf(&text, " (and %d for the leases of nodes)", r.leases)
	}
	text.WriteString(":\n")
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, line := range lines(r.remembered()) {
		_, _ = fmt.Fprintln(table, line) // a strings.Builder takes everything
	}
	_ = table.Flush()
	return trailing.ReplaceAllString(strings.TrimSpace(text.String()), "")
}

// lines returns a line for each request, and where several in a row are alike, for the first of them. Between those that
// are remembered for having written there may be others that are forgotten.
func lines(requests []*request) []string {
	var all []string
	number, last, alike := 0, "", 0
	end := func() {
		if alike > 0 {
			all = append(all, fmt.Sprintf("… %d alike%s", alike, columns))
		}
		alike = 0
	}
	for _, made := range requests {
		row, left := made.row(), made.number-number-1
		if number > 0 && left > 0 {
			end()
			all = append(all, fmt.Sprintf("… %d reads%s", left, columns))
			last = ""
		}
		number = made.number
		if row == last {
			alike++
			continue
		}
		end()
		last = row
		all = append(all, made.at.UTC().Format("Jan _2 15:04:05.000")+"\t"+row)
	}
	end()
	return all
}

// remembered returns the requests that are in either ring, in order.
func (r *Recorder) remembered() []*request {
	all := slices.Concat(r.requests.requests, r.writes.requests)
	slices.SortFunc(all, func(a, b *request) int { return cmp.Compare(a.number, b.number) })
	return slices.Compact(all)
}

// row is the line of one request without its time, with a tab between columns.
func (made *request) row() string {
	answer := parseAnswer(made.answer)
	verb, resource, object := made.what()
	if strings.HasSuffix(object, "/") || object == "" {
		object += answer.name // one that was just made has its name in the answer
	}
	code := "…" // under way
	if made.code > 0 {
		code = strconv.Itoa(made.code)
	}
	version := ""
	switch {
	case verb == "watch":
		query, _ := url.ParseQuery(made.query) // what it could read is what there is to show
		if from := query.Get("resourceVersion"); from != "" {
			version = "from " + from
		}
	case answer.resourceVersion != "":
		version = "rv " + answer.resourceVersion
	}
	agent, _, _ := strings.Cut(made.agent, " ")
	return strings.Join([]string{
		verb, resource, cmp.Or(object, "-"), code, version, agent, shortened(answer.message),
	}, "\t")
}

// what takes a request apart into verb, resource and object, as an API server does. One that is for no resource has the
// method and the path.
func (made *request) what() (verb, resource, object string) {
	factory := genericapirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := factory.NewRequestInfo(&http.Request{Method: made.method, URL: &url.URL{Path: made.path, RawQuery: made.query}})
	if err != nil || !info.IsResourceRequest {
		return strings.ToLower(made.method), made.path, ""
	}
	resource = info.Resource
	if info.APIGroup != "" {
		resource += "." + info.APIGroup
	}
	if info.Subresource != "" {
		resource += "/" + info.Subresource
	}
	object = info.Name
	if info.Namespace != "" && info.Resource != "namespaces" {
		object = info.Namespace + "/" + info.Name
	}
	return info.Verb, resource, object
}

func shortened(message string) string {
	message = strings.ReplaceAll(message, "\n", " ")
	if letters := []rune(message); len(letters) > mostMessage {
		return string(letters[:mostMessage]) + "…"
	}
	return message
}
