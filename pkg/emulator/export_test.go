package emulator

// Watchers is how many watches of the store run, those of the server's own controllers among them.
func (s *Server) Watchers() int { return s.memory.Watchers() }

// HistoryBytes is how much memory the past takes.
func (s *Server) HistoryBytes() int64 { return s.memory.HistoryBytes() }
