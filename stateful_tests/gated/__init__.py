"""The checks of the second system, ledger-gated transactions: model against store, action by action.

Importing this package imports nothing else. What is not peculiar to this system is `stateful_tests`'.
"""
