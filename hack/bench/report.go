package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// report is what a benchmark has found: tables, in the order in which they were made.
type report struct {
	tables []*table
}

// table is a part of a report. Every row has a cell for each column.
type table struct {
	name    string
	columns []string
	rows    [][]cell
}

// cell is a value and how many decimals of it are worth printing. A value that is no number is printed as it is.
type cell struct {
	value    any
	decimals int
}

// text is a cell that names something.
func text(value string) cell { return cell{value: value} }

// number is a cell with a number, printed with that many decimals.
func number[T ~int | ~int64 | ~float64](value T, decimals int) cell {
	return cell{value: float64(value), decimals: decimals}
}

func (c cell) String() string {
	if value, ok := c.value.(float64); ok {
		return fmt.Sprintf("%.*f", c.decimals, value)
	}
	return fmt.Sprint(c.value)
}

// table adds a table to the report.
func (r *report) table(name string, columns ...string) *table {
	t := &table{name: name, columns: columns}
	r.tables = append(r.tables, t)
	return t
}

// add adds a row.
func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// printTables prints the report for people.
func (r *report) printTables(out io.Writer) error {
	for i, t := range r.tables {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, t.name)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "  "+strings.Join(t.columns, "\t"))
		for _, row := range t.rows {
			printed := make([]string, len(row))
			for i, c := range row {
				printed[i] = c.String()
			}
			fmt.Fprintln(w, "  "+strings.Join(printed, "\t"))
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return nil
}

// printJSON prints the report for programs: by the name of the table a list of rows, each an object with the columns as
// keys.
func (r *report) printJSON(out io.Writer) error {
	tables := map[string][]map[string]any{}
	for _, t := range r.tables {
		rows := make([]map[string]any, len(t.rows))
		for i, row := range t.rows {
			rows[i] = map[string]any{}
			for j, c := range row {
				rows[i][t.columns[j]] = c.value
			}
		}
		tables[t.name] = rows
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(tables); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
