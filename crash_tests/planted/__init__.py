"""Faults built into the store on purpose, to see that the checks catch them."""
