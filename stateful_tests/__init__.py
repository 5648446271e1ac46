"""Model against store, action by action: the target's adapter, the comparison, traces, machines, corpus.

Importing this package imports nothing else: Hypothesis comes in only with `stateful_tests.machine`.
"""
