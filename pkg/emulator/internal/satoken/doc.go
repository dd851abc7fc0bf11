// Package satoken issues and checks the tokens of ServiceAccounts: JWTs with the claims that Kubernetes gives them, signed
// by a key (ECDSA, P-256) that one [Issuer] makes when it first needs it and that nobody else knows.
//
// [Issuer.Issue] makes a token, [Issuer.Read] checks signature, issuer, audiences and times and returns the [Claims].
// [Issuer.Authenticate] holds those against the objects that they speak of.
//
// There is no legacy form without expiry, and no document of the public key for others to check tokens with.
package satoken
