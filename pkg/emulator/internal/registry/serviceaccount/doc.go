// Package serviceaccount serves core/v1 ServiceAccounts, without their tokens: nothing in the emulator issues any.
// [New] is its entry point.
package serviceaccount
