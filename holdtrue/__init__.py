"""The front door: the command line, and nothing else.

What is checked stands in `model`, `stateful_tests` and `crash_tests`; how it is shown stands in `reports`.
Importing this package imports nothing of theirs.
"""

__version__ = "0.1.0"
