"""What was found, for people and machines. Works from results alone, so that an old run can be shown again.

Plain text so far: the story of a trace (`reports.story`) and the summary of a run (`reports.summary`).
Importing this package imports nothing else.
"""
