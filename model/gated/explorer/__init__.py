"""The ledger-gated store's world as a finite space, facet by facet, for `model.explorer`.

`names.FACETS` is the table of facets, each with what it is about and what the profiles do with it; `facets`
has their spaces and properties. What is small and exhausted here is the protocol: calls, their failing steps,
deaths at every small step, retries, recovery, tampering. Long ledgers, odd texts and large requests are the
random walks' business.
"""
