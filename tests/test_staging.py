"""Places of work are known from what was left behind."""

from pathlib import Path

from budgetseg.files import atomic_file, atomic_folder
from budgetseg.staging import is_staging, new_place, orphans


def test_what_a_killed_process_left_goes_and_what_another_needs_stays(tmp_path: Path) -> None:
    left = [tmp_path / ".a.0123abcd.json", tmp_path / ".out.0123abcd"]
    left[0].write_text("half")
    left[1].mkdir()
    with atomic_file(tmp_path / "a.json") as part, atomic_folder(tmp_path / "out") as place:
        assert not any(path.exists() for path in left)
        with atomic_file(tmp_path / "a.json") as other, atomic_folder(tmp_path / "out") as other_place:
            assert part.exists()
            assert place.exists()
            other.write_text("second")
            (other_place / "b").write_text("second")
        part.write_text("first")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "out"]
    assert (tmp_path / "a.json").read_text() == "first"


def test_names_are_short_enough_for_every_file_system(tmp_path: Path) -> None:
    for stem in ("a" * 250, "é" * 125):
        place = new_place(tmp_path, stem, ".json")
        place.write_text("")
        assert is_staging(place.name)
        assert list(orphans(tmp_path, stem, ".json")) == [place]
    assert not is_staging("out.json")
    assert not is_staging(".out.notahex0")
