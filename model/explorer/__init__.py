"""Exhaustive exploration of bounded worlds: every reachable state, every transition, within declared bounds.

Guarantees: a run that says it is complete has seen every state that the declared space can reach. It knows
nothing of what it explores: a `Space` tells it. Does not import numpy or networkx until an engine is used.
"""
