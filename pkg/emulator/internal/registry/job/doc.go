// Package job serves batch/v1 Jobs and their status. [New] is its entry point. What a Job means stands in pkg/batch; this
// package says when its rules apply, and keeps the children of a Job that is deleted without more words, as batch/v1 does.
package job
