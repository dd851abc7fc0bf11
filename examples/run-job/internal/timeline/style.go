package timeline

import "github.com/musterkube/muster/examples/run-job/internal/life"

// style has the colours of both themes. Each colour is written out, as not every program that shows SVGs knows variables.
// The classes of states are their names; t- is the tail of a pod that has ended. A theme has contrasts of at least 4.5 for
// text.
const style = `<style>
text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:#1f2328}
.title{font-size:15px;font-weight:600}.name{font-size:12px;font-weight:600}.muted{fill:#59636e}.end{text-anchor:end}.mid{text-anchor:middle}
.paper{fill:#fff;stroke:#d1d9e0}.stripe{fill:#f6f8fa}.hit{fill:transparent}
.grid{stroke:#d1d9e0;stroke-opacity:.7}.rule{stroke:#d1d9e0}.cut{stroke:#59636e;stroke-width:1.5}
path{fill:none}.sign{stroke:#fff;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
.waiting{fill:#eaeef2;stroke:#818b98}.scheduled{fill:#b6dcff;stroke:#0969da}.running{fill:#0969da}
.lost{fill:url(#hatch)}.terminating{fill:url(#dots)}.succeeded,.good{fill:#1a7f37}.failed,.bad{fill:#cf222e}
.thin{stroke:none}.waiting.thin{fill:#c8d1da}.in{font-size:9px;fill:#fff}
.hatch-back{fill:#fff1e5}.hatch{stroke:#bc4c00;stroke-width:2}.dots-back{fill:#fff8c5}.dots{fill:#9a6700}
.admitted{fill:#8250df}.admission{stroke:#8250df;stroke-width:1.5;stroke-dasharray:3 3}.held{fill:#9a6700}.note{fill:#59636e}
g:hover>.hit{fill:#59636e;fill-opacity:.12}
@media (prefers-color-scheme:dark){
text{fill:#f0f6fc}.muted{fill:#9198a1}.paper{fill:#0d1117;stroke:#3d444d}.stripe{fill:#151b23}
.grid,.rule{stroke:#3d444d}.cut{stroke:#9198a1}.sign{stroke:#0d1117}
.waiting{fill:#262c36;stroke:#9198a1}.scheduled{fill:#163d6b;stroke:#58a6ff}.running{fill:#4493f8}
.thin{stroke:none}.waiting.thin{fill:#545d68}.in{fill:#0d1117}
.succeeded,.good{fill:#3fb950}.failed,.bad{fill:#f85149}
.hatch-back{fill:#341a00}.hatch{stroke:#f0883e}.dots-back{fill:#2e2a0c}.dots{fill:#e3b341}
.admitted{fill:#ab7df8}.admission{stroke:#ab7df8}.held{fill:#d29922}.note{fill:#9198a1}
}
</style>
<defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-back" width="6" height="6"/><path class="hatch" d="M1 0V6"/></pattern>
<pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="dots-back" width="4" height="4"/><rect class="dots" width="2" height="2"/></pattern>
</defs>`

// shown are the states that are drawn, in the order of the legend.
func shown() []life.State {
	return []life.State{life.Waiting, life.Scheduled, life.Running, life.Lost, life.Terminating, life.Succeeded, life.Failed}
}

// markClass is the class of a mark.
func markClass(kind life.Kind) string {
	switch kind {
	case life.Admitted:
		return "admitted"
	case life.Held:
		return "held"
	case life.Good:
		return "good"
	case life.Bad:
		return "bad"
	default:
		return "note"
	}
}
