"""The coordinator's model as a finite space: what can happen within declared bounds, and what must hold.

Guarantees: every transition comes of the real `model.step`, on a world forged for the state at hand. That
what is left out of a state makes no difference is not proven here but tested (see `tests`).
"""
