package mvcc

import (
	"bytes"
	"cmp"
)

// Target is the property of a key that a Compare looks at.
type Target int

// What a Compare may look at. Of a key that does not exist the revisions, the version and the lease are 0, and no
// comparison of its value holds.
const (
	TargetModRevision Target = iota
	TargetCreateRevision
	TargetVersion
	TargetLease
	TargetValue
)

// Relation is how a property must relate to the operand of a Compare.
type Relation int

// The relations that a Compare may ask for.
const (
	Equal Relation = iota
	NotEqual
	Greater
	Less
)

// Compare is a condition of a transaction: that the Target of Key stands in Relation to the operand.
type Compare struct {
	Key      string
	Target   Target
	Relation Relation
	// Number is the operand for all targets but TargetValue.
	Number int64
	// Value is the operand for TargetValue.
	Value []byte
}

// holds evaluates the condition for a key that may not exist.
func (c Compare) holds(kv *KeyValue) bool {
	if kv == nil {
		if c.Target == TargetValue {
			return false
		}
		kv = &KeyValue{}
	}
	var order int
	switch c.Target {
	case TargetValue:
		order = bytes.Compare(kv.Value, c.Value)
	case TargetModRevision:
		order = cmp.Compare(kv.ModRevision, c.Number)
	case TargetCreateRevision:
		order = cmp.Compare(kv.CreateRevision, c.Number)
	case TargetVersion:
		order = cmp.Compare(kv.Version, c.Number)
	case TargetLease:
		order = cmp.Compare(int64(kv.Lease), c.Number)
	}
	switch c.Relation {
	case NotEqual:
		return order != 0
	case Greater:
		return order > 0
	case Less:
		return order < 0
	default:
		return order == 0
	}
}

// Op is one operation of a transaction: a PutOp, a DeleteOp or a RangeOp.
type Op interface {
	// check says why the operation cannot be done.
	check(db *DB) error
	apply(tx *writer) OpResult
}

// PutOp writes a key.
type PutOp struct {
	Key   string
	Value []byte
	Lease LeaseID
}

// DeleteOp removes the keys of a span.
type DeleteOp struct {
	Span Span
}

// RangeOp reads the keys of a span. At the present revision it sees what earlier operations of its transaction wrote.
type RangeOp struct {
	Span    Span
	Options RangeOptions
}

// OpResult is what one operation did.
type OpResult struct {
	// Range is the result of a RangeOp.
	Range RangeResult
	// Prev are the keys as they were before a PutOp or a DeleteOp; none for a PutOp that made its key.
	Prev []*KeyValue
}

func (op PutOp) check(db *DB) error   { return db.checkPut(op.Key, op.Lease) }
func (op DeleteOp) check(*DB) error   { return nil }
func (op RangeOp) check(db *DB) error { return db.checkRead(op.Options.Revision) }

func (op PutOp) apply(tx *writer) OpResult {
	if prev := tx.put(op.Key, op.Value, op.Lease); prev != nil {
		return OpResult{Prev: []*KeyValue{prev}}
	}
	return OpResult{}
}

func (op DeleteOp) apply(tx *writer) OpResult {
	return OpResult{Prev: tx.deleteSpan(op.Span)}
}

func (op RangeOp) apply(tx *writer) OpResult {
	now := tx.rev
	if len(tx.events) == 0 {
		now--
	}
	return OpResult{Range: scan(tx.db.index, op.Span, op.Options, now)}
}

// Txn is a transaction: Then is done if every condition in If holds, Else otherwise, all of it at one revision.
type Txn struct {
	If         []Compare
	Then, Else []Op
}

// TxnResult is what a transaction did.
type TxnResult struct {
	// Succeeded says that the conditions held, so that Then was done.
	Succeeded bool
	// Revision is the revision of the store after the transaction. One that writes nothing makes no new revision.
	Revision int64
	// Results has one element for each operation that was done.
	Results []OpResult
}

// Txn runs a transaction, all of it or, on an error, nothing. It fails with ErrEmptyKey, ErrDuplicateKey (a key that is
// put twice, or put and deleted, in either branch), ErrLeaseNotFound, ErrCompacted, ErrFutureRevision or ErrClosed.
func (db *DB) Txn(txn Txn) (TxnResult, error) {
	for _, c := range txn.If {
		if c.Key == "" {
			return TxnResult{}, ErrEmptyKey
		}
	}
	for _, ops := range [][]Op{txn.Then, txn.Else} {
		if err := checkOverlap(ops); err != nil {
			return TxnResult{}, err
		}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return TxnResult{}, ErrClosed
	}
	result := TxnResult{Succeeded: db.allHold(txn.If)}
	ops := txn.Then
	if !result.Succeeded {
		ops = txn.Else
	}
	for _, op := range ops {
		if err := op.check(db); err != nil {
			return TxnResult{}, err
		}
	}
	tx := db.begin()
	for _, op := range ops {
		result.Results = append(result.Results, op.apply(&tx))
	}
	result.Revision = tx.commit()
	return result, nil
}

func (db *DB) allHold(conditions []Compare) bool {
	for _, c := range conditions {
		if !c.holds(db.current(c.Key)) {
			return false
		}
	}
	return true
}

// checkOverlap says whether operations write a key more than once: a revision holds one version of a key. Deleting twice
// is the exception, as the second has nothing left to do.
func checkOverlap(ops []Op) error {
	puts := map[string]struct{}{}
	for _, op := range ops {
		put, ok := op.(PutOp)
		if !ok {
			continue
		}
		if _, twice := puts[put.Key]; twice {
			return ErrDuplicateKey
		}
		puts[put.Key] = struct{}{}
	}
	for _, op := range ops {
		del, ok := op.(DeleteOp)
		if !ok {
			continue
		}
		for key := range puts {
			if del.Span.Contains(key) {
				return ErrDuplicateKey
			}
		}
	}
	return nil
}
