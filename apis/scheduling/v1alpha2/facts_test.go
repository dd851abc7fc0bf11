package v1alpha2_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// facts lists what makes the wire form and the generated code of an API package, one fact a line, with tabs between the
// parts of a fact:
//
//	package  MARKER                    a marker of the package
//	const    NAME TYPE VALUE           a constant; TYPE is "-" when it is untyped
//	type     NAME KIND                 a type, by name, followed by its markers and its fields in order
//	field    TYPE.NAME GOTYPE TAG      a field, followed by its markers
//	marker   TYPE[.NAME] MARKER        a comment line that begins with "+"
//
// Types and tags are those that the compiler sees, reached from the given values; markers and constants come from the
// hand-written sources in dir.
func facts(dir string, kinds ...any) ([]string, error) {
	source, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, marker := range source.markers["package"] {
		lines = append(lines, fact("package", marker))
	}
	lines = append(lines, source.constants...)
	for _, typ := range reachable(kinds) {
		lines = append(lines, fact("type", typ.Name(), typ.Kind().String()))
		lines = append(lines, source.markerFacts(typ.Name())...)
		if typ.Kind() != reflect.Struct {
			continue
		}
		for field := range typ.Fields() {
			name := typ.Name() + "." + field.Name
			lines = append(lines, fact("field", name, field.Type.String(), string(field.Tag)))
			lines = append(lines, source.markerFacts(name)...)
		}
	}
	return lines, nil
}

func fact(parts ...string) string { return strings.Join(parts, "\t") }

// reachable returns the named types of the kinds' own package that the kinds are made of, sorted by name.
func reachable(kinds []any) []reflect.Type {
	var types []reflect.Type
	var visit func(typ reflect.Type, home string)
	visit = func(typ reflect.Type, home string) {
		switch {
		case typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice:
			visit(typ.Elem(), home)
		case typ.PkgPath() == home && !slices.Contains(types, typ):
			types = append(types, typ)
			if typ.Kind() == reflect.Struct {
				for field := range typ.Fields() {
					visit(field.Type, home)
				}
			}
		}
	}
	for _, kind := range kinds {
		typ := reflect.TypeOf(kind)
		visit(typ, typ.PkgPath())
	}
	slices.SortFunc(types, func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) })
	return types
}

// source is what the hand-written files of a package say beyond what reflection sees.
type source struct {
	// markers holds the markers of "package", of each TYPE and of each TYPE.FIELD, in order.
	markers map[string][]string
	// constants holds one fact for each constant, sorted.
	constants []string
}

func (s *source) markerFacts(name string) []string {
	var lines []string
	for _, marker := range s.markers[name] {
		lines = append(lines, fact("marker", name, marker))
	}
	return lines
}

func readSource(dir string) (*source, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", dir, err)
	}
	s := &source{markers: map[string][]string{}}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("parsing %s: %w", path, err)
		}
		if !ast.IsGenerated(file) {
			s.addFile(file)
		}
	}
	slices.Sort(s.markers["package"])
	slices.Sort(s.constants)
	return s, nil
}

func (s *source) addFile(file *ast.File) {
	s.addMarkers("package", commentsBetween(file, file.FileStart, file.Package))
	end := file.Name.End()
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if ok && general.Tok == token.TYPE {
			s.addType(file, general, commentsBetween(file, end, general.TokPos))
		}
		if ok && general.Tok == token.CONST {
			s.addConstants(general)
		}
		end = decl.End()
	}
}

func (s *source) addType(file *ast.File, decl *ast.GenDecl, comments []*ast.CommentGroup) {
	spec := decl.Specs[0].(*ast.TypeSpec)
	s.addMarkers(spec.Name.Name, comments)
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	end := structure.Fields.Opening
	for _, field := range structure.Fields.List {
		s.addMarkers(spec.Name.Name+"."+fieldName(field), commentsBetween(file, end, field.Pos()))
		end = field.End()
	}
}

// fieldName returns the name of a field, which for an embedded one is that of its type.
func fieldName(field *ast.Field) string {
	if len(field.Names) > 0 {
		return field.Names[0].Name
	}
	return field.Type.(*ast.SelectorExpr).Sel.Name
}

func (s *source) addConstants(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		value := spec.(*ast.ValueSpec)
		typ := "-"
		if value.Type != nil {
			typ = value.Type.(*ast.Ident).Name
		}
		s.constants = append(s.constants, fact("const", value.Names[0].Name, typ, value.Values[0].(*ast.BasicLit).Value))
	}
}

func (s *source) addMarkers(name string, comments []*ast.CommentGroup) {
	for _, group := range comments {
		for _, comment := range group.List {
			if text := strings.TrimPrefix(comment.Text, "// "); strings.HasPrefix(text, "+") {
				s.markers[name] = append(s.markers[name], text)
			}
		}
	}
}

// commentsBetween returns the comments that stand between two places, those cut off by a blank line included: markers
// of a type are often written so.
func commentsBetween(file *ast.File, from, to token.Pos) []*ast.CommentGroup {
	var groups []*ast.CommentGroup
	for _, group := range file.Comments {
		if group.Pos() >= from && group.End() <= to {
			groups = append(groups, group)
		}
	}
	return groups
}
