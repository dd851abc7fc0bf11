// Package patches answers patches as Kubernetes 1.36 does where k8s.io/apiserver 0.37, which applies them, does otherwise:
//
//   - a body that cannot be decoded is refused where 1.36 notices, which is after it has looked for the object, and in its
//     words. The library refuses it at the door, with other words;
//   - in a strategic merge patch, fields that are newer than 1.36 are unknown ones. The library reads such patches by the
//     Go types, which have the fields.
//
// [Handler] goes in front of the library's handlers and remembers what was sent. [Follow] goes between them and a store,
// where a patch is applied to the object. [Shortcuts] spare the library work. Nothing here applies patches.
package patches
