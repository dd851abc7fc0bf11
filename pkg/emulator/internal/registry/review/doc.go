// Package review serves the questions of authentication.k8s.io/v1 and authorization.k8s.io/v1: TokenReviews,
// SelfSubjectReviews, SubjectAccessReviews with their local and self forms, and SelfSubjectRulesReviews. Nothing is
// stored; the answer to a create is the answer to the question. [Authentication] and [Authorization] are its entry points.
package review
