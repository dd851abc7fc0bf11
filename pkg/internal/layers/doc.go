// Package layers holds the packages of this module to their floors: which may import which, and who may reach the API
// server library. Its test reads the import graph of the whole module and prints each arrow that should not be, with
// the path that it takes.
//
// [Rules] is the table to read, and to extend when a package is added; [Check] is the entry point. Imports of test files
// are free and are not looked at.
package layers
