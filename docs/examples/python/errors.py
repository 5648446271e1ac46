"""The store's own errors."""


class StoreError(Exception):
    def __init__(self, code: str, message: str = "", side_effects: str = "none") -> None:
        super().__init__(message or code)
        self.code, self.side_effects = code, side_effects


class ClockError(StoreError):
    """The clock went backwards: what no sweep skips."""
