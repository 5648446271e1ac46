"""Tours: every transition of an explored world taken on the real store, and compared after each action.

`python -c "import stateful_tests.exploring"` loads nothing: numpy and the explorer come with the jobs alone.
"""
