package layers

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Check returns one line for each arrow in graph that rules or bans forbid, sorted by importer; none means that the house
// stands. A line begins with the path of the arrow, importer first.
func Check(module string, graph Graph, rules []Rule, bans []Ban) []string {
	house := house{module: module, graph: graph, rules: rules}
	var faults []string
	for _, pkg := range slices.Sorted(maps.Keys(graph)) {
		folder, ours := house.folder(pkg)
		if !ours || folder == "" {
			continue
		}
		faults = append(faults, house.checkImports(pkg, folder)...)
		for _, ban := range bans {
			faults = append(faults, house.checkBan(pkg, folder, ban)...)
		}
	}
	return faults
}

type house struct {
	module string
	graph  Graph
	rules  []Rule
}

// folder returns where a package of this module lies: its import path below that of the module.
func (h house) folder(pkg string) (folder string, ours bool) {
	if pkg == h.module {
		return "", true
	}
	return strings.CutPrefix(pkg, h.module+"/")
}

// checkImports looks at the direct imports of a package. That is enough: the imports of those are looked at in turn.
func (h house) checkImports(pkg, folder string) []string {
	rule, unit, found := h.ruleOf(folder)
	if !found {
		return []string{fmt.Sprintf("%s: no rule covers it: give it a row in pkg/internal/layers", folder)}
	}
	var faults []string
	for _, imported := range h.graph[pkg] {
		if _, nonStandard := h.graph[imported]; !nonStandard {
			continue
		}
		target, ours := h.folder(imported)
		switch {
		case ours && !within(target, unit) && !rule.allows(target):
			faults = append(faults, fmt.Sprintf("%s → %s: %s may import of this module %s",
				folder, target, rule.Unit, orNothing(rule.May)))
		case !ours && rule.Outside != nil && !slices.ContainsFunc(rule.Outside, func(root string) bool { return within(imported, root) }):
			faults = append(faults, fmt.Sprintf("%s → %s: %s may import of other modules %s",
				folder, imported, rule.Unit, orNothing(rule.Outside)))
		}
	}
	return faults
}

// checkBan looks for the shortest way from a package to what is banned. A way through another package that the ban holds
// for is that one's to answer for, so that one bad import gives one line.
func (h house) checkBan(pkg, folder string, ban Ban) []string {
	if !ban.holdsFor(folder) {
		return nil
	}
	way := h.way(pkg, func(reached string) bool { return within(reached, ban.Reach) })
	if way == nil {
		return nil
	}
	for i, step := range way {
		stepFolder, ours := h.folder(step)
		if !ours {
			continue
		}
		if i > 0 && ban.holdsFor(stepFolder) {
			return nil
		}
		way[i] = stepFolder
	}
	return []string{fmt.Sprintf("%s: %s", strings.Join(way, " → "), ban.Because)}
}

// way returns a shortest path from one package to another for which goal holds, both included, or nil.
func (h house) way(from string, goal func(string) bool) []string {
	cameFrom := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		here := queue[0]
		if goal(here) {
			var steps []string
			for ; here != ""; here = cameFrom[here] {
				steps = append(steps, here)
			}
			slices.Reverse(steps)
			return steps
		}
		for _, next := range h.graph[here] {
			if _, seen := cameFrom[next]; !seen {
				cameFrom[next] = here
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// ruleOf returns the rule for a folder and the folder of its unit, the "*" of the rule filled in.
func (h house) ruleOf(folder string) (rule Rule, unit string, found bool) {
	for _, rule := range h.rules {
		if unit, ok := unitOf(folder, rule.Unit); ok {
			return rule, unit, true
		}
	}
	return Rule{}, "", false
}

// allows reports whether a folder of another unit may be imported.
func (r Rule) allows(folder string) bool {
	if slices.Contains(r.May, folder) {
		return true
	}
	if slices.Contains(strings.Split(folder, "/"), "internal") {
		return false
	}
	return covered(folder, r.May)
}

func (b Ban) holdsFor(folder string) bool { return b.Units == nil || covered(folder, b.Units) }

func covered(folder string, units []string) bool {
	return slices.ContainsFunc(units, func(pattern string) bool {
		_, ok := unitOf(folder, pattern)
		return ok
	})
}

// unitOf returns the folder that a unit's pattern stands for, if the given folder is it or lies below it.
func unitOf(folder, pattern string) (string, bool) {
	parts := strings.Split(folder, "/")
	depth := strings.Count(pattern, "/") + 1
	if len(parts) < depth {
		return "", false
	}
	unit := strings.Join(parts[:depth], "/")
	// A pattern with a syntax error matches nothing, and then every package it was meant for has no rule.
	matched, err := path.Match(pattern, unit)
	return unit, err == nil && matched
}

// within reports whether an import path is root or lies below it.
func within(importPath, root string) bool {
	return importPath == root || strings.HasPrefix(importPath, root+"/")
}

func orNothing(allowed []string) string {
	if len(allowed) == 0 {
		return "nothing"
	}
	return "only " + strings.Join(allowed, ", ")
}
