"""Targets of the wire protocol, killed: at their own marked points, at system calls, at random moments.

A killed target is a whole process group that is gone; a new one is started on the same directory and must
show the state before or the state after, whole, with everything acknowledged, and work on beside the model.

Several processes of one target race on one directory (`racers`, `rounds`, `racing`), judged by whether the
model has an order for what came of it (`orders`).
"""
