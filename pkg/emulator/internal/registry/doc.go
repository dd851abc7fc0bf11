// Package registry says which resources the emulator serves, and makes their storages. [Storages] is the entry point;
// [Bootstrap] then writes what every cluster has from the start.
//
// Each kind has a package of its own below this one, with its rules (strategy.go), what it stores and under which names
// (storage.go), and what kubectl prints of it (table.go).
package registry
