"""A store in another process, in any language, walked beside the model over the wire protocol.

`docs/protocol.md` specifies what is spoken, `docs/protocol.schema.json` each message. Here are both ends:
`serve` offers this project's own store, `target` drives any store; between them `conversation` (one request,
one reply) and `process` (limits, ends, no orphans).

What a target can't do by its own word (`capabilities`) is never sent, and counted (`reach`); what its owner
has decided otherwise (`policy`) is reported as declared. There is one system here, the coordinator.
"""
