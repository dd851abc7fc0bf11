package emulator

import (
	"fmt"
	"net"
	"os"
	"strconv"
)

// names are by what clients call a door.
type names struct {
	url   string
	hosts []string
	ips   []net.IP
}

// namesOf returns the names of a door that was opened at an address, HOST:PORT, and that listens at the one given.
func namesOf(at string, listening *net.TCPAddr) (names, error) {
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		return names{}, err // checked before
	}
	port := strconv.Itoa(listening.Port)
	if !listening.IP.IsUnspecified() {
		named := names{url: "https://" + listening.String(), ips: []net.IP{listening.IP}}
		if net.ParseIP(host) == nil && host != "localhost" {
			named.url, named.hosts = "https://"+net.JoinHostPort(host, port), []string{host}
		}
		return named, nil
	}
	loopback := net.IPv4(127, 0, 0, 1)
	if listening.IP.To4() == nil && host != "" {
		loopback = net.IPv6loopback
	}
	named := names{url: "https://" + net.JoinHostPort(loopback.String(), port)}
	if name, err := os.Hostname(); err == nil && name != "" {
		named.hosts = []string{name}
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return names{}, fmt.Errorf("finding the addresses of this machine: %w", err)
	}
	for _, address := range addresses {
		if of, ok := address.(*net.IPNet); ok {
			named.ips = append(named.ips, of.IP)
		}
	}
	return named, nil
}
