"""The ledger-gated store killed at every marked point, struck by failing steps, tampered with, and raced.

Importing this package imports nothing else. What is not peculiar to this system is `crash_tests`'.
"""
