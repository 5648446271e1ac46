"""The children: they end as they should, are told apart when they don't, and leave nothing behind."""

import os
import signal

import pytest

from crash_tests.children import Child, HarnessError, Say, in_child


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_child_that_finishes_is_heard_in_full() -> None:
    words = b"x" * 300_000
    ended = in_child(lambda say: say(words))
    assert ended.finished
    assert ended.said == words


def test_a_child_that_kills_itself_is_known_to_be_killed_and_its_words_are_kept() -> None:
    def dies(say: Say) -> None:
        say(b"before")
        os.kill(os.getpid(), signal.SIGKILL)

    ended = in_child(dies)
    assert ended.killed
    assert not ended.finished
    assert ended.said == b"before"


def test_a_child_that_dies_otherwise_is_not_taken_for_killed() -> None:
    ended = in_child(lambda _: os.kill(os.getpid(), signal.SIGTERM))
    assert not ended.killed
    assert ended.describe() == "died of SIGTERM"


def test_a_child_that_raises_says_where() -> None:
    def raises(_: Say) -> None:
        raise ValueError("no such luck")

    ended = in_child(raises)
    assert not ended.finished
    assert not ended.killed
    assert "ValueError: no such luck" in ended.describe()


def test_a_child_that_never_ends_is_ended_at_the_deadline_and_not_taken_for_killed() -> None:
    def waits(_: Say) -> None:
        signal.pause()

    ended = in_child(waits, deadline_s=0.05)
    assert ended.timed_out
    assert not ended.killed
    assert not _alive(ended.pid)


def test_a_child_in_a_with_is_gone_after_it_even_when_the_body_fails() -> None:
    def waits(_: Say) -> None:
        signal.pause()

    with pytest.raises(RuntimeError), Child(waits) as child:
        raise RuntimeError
    assert not _alive(child.pid)


def test_listening_for_what_is_never_said_is_an_error_of_the_harness() -> None:
    with Child(lambda say: say(b"hello")) as child, pytest.raises(HarnessError, match="never said"):
        child.listen(b"good-bye", 5.0)
