// Package serviceaccount serves core/v1 ServiceAccounts, and makes their tokens. [New] is its entry point, and [NewToken]
// that for serviceaccounts/token.
package serviceaccount
