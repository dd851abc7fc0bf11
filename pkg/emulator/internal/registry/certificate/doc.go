// Package certificate serves the CertificateSigningRequests of certificates.k8s.io/v1, with status and approval. [New] is
// its entry point.
//
// A request says who made it, and what was asked for never changes. Whether it is granted is set by way of approval, the
// certificate by way of status. Nothing here approves or signs: signers are clients. Who may approve and sign for which
// signer is up to admission.
package certificate
