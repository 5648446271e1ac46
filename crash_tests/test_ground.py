"""Pictures of a directory: what is put back is what was there, in the same directory."""

from pathlib import Path

from crash_tests.ground import Picture, ground


def test_putting_a_picture_back_restores_bytes_and_modes_and_keeps_the_directory() -> None:
    with ground() as place:
        file = place.directory / "coordinator.json"
        file.write_bytes(b"one")
        file.chmod(0o600)
        picture, inode = place.picture(), place.directory.stat().st_ino
        file.write_bytes(b"another")
        file.chmod(0o640)
        (place.directory / "stranger").touch()
        place.put_back(picture)
        assert file.read_bytes() == b"one"
        assert file.stat().st_mode & 0o777 == 0o600
        assert [entry.name for entry in place.directory.iterdir()] == ["coordinator.json"]
        assert place.directory.stat().st_ino == inode


def test_a_directory_that_was_missing_is_missing_again_and_comes_back_as_the_same() -> None:
    with ground(missing=True) as place:
        nothing = place.picture()
        assert nothing == Picture(None)
        place.directory.parent.mkdir()
        half_way = place.picture()
        assert half_way == Picture(None, made=1)
        place.directory.mkdir()
        (place.directory / "writer.lock").touch()
        whole = place.picture()
        place.put_back(nothing)
        assert not place.directory.parent.exists()
        place.put_back(half_way)
        assert place.directory.parent.exists()
        assert not place.directory.exists()
        place.put_back(whole)
        assert place.picture() == whole


def test_pictures_that_differ_in_random_names_alone_are_alike() -> None:
    def of(name: str, content: bytes) -> str:
        return Picture({name: (0o600, content)}).likeness

    one, two = ("coordinator.json." + digit * 32 + ".tmp" for digit in "ab")
    assert of(one, b"half") == of(two, b"half")
    assert of(one, b"half") != of(one, b"whole")
    assert of(one, b"half") != of("coordinator.json", b"half")
    assert Picture({one: (0o600, b"")}).temporaries == (one,)


def test_a_place_is_gone_afterwards() -> None:
    with ground() as place:
        root: Path = place.root
        assert root.exists()
    assert not root.exists()
