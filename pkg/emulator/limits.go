package emulator

import "net/http"

// maxHeaderBytes is how large the header of a request may be, as with a kube-apiserver. What comes through a socket is
// held to it by net/http already.
const maxHeaderBytes = http.DefaultMaxHeaderBytes

// withHeaderLimit refuses requests with larger headers, in the words of net/http.
func withHeaderLimit(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if headerBytes(r) > maxHeaderBytes {
			http.Error(w, "431 Request Header Fields Too Large", http.StatusRequestHeaderFieldsTooLarge)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// headerBytes is the size of a header as HTTP/1.1 would send it.
func headerBytes(r *http.Request) int {
	const separators = len(": \r\n")
	size := len(r.Method) + len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + separators
		}
	}
	return size
}
