"""Faults built into the ledger-gated store on purpose, and proof that its ordinary checks find each."""
