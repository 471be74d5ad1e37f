import pytest

import bestgroup as bg
from bestgroup.errors import InvalidInput
from bestgroup.problem.items import digest_order, items_from_dict


def test_targets_and_counts():
    assert bg.Items(5).target == "pool"
    assert bg.Items().target == "stream"
    assert bg.Items(names=["a", "b"], target="population").count == 2
    for bad in (
        {"count": 0},
        {"count": 2, "target": "stream"},
        {"target": "pool"},
        {"names": ["a", "a"]},
        {"count": 3, "names": ["a"]},
        {"count": 2, "clusters": ["x"]},
        {"count": 2, "repeats": 0},
        {"count": 2, "target": "everything"},
    ):
        with pytest.raises(InvalidInput):
            bg.Items(**bad)


def test_names_and_numbers():
    items = bg.Items(names=["x", "y"])
    assert items.index("y") == 1
    assert items.name(0) == "x"
    assert bg.Items(3).index("2") == 2
    for bad in ("3", "z"):
        with pytest.raises(InvalidInput, match="no item"):
            bg.Items(3).index(bad)


def test_plain_json_and_back():
    items = bg.Items(names=["x", "y"], clusters=["c", "c"], repeats=2, floor={"score": 0.0})
    assert items_from_dict(items.to_dict()) == items
    assert items.floor_values(["score"]) == [0.0]
    with pytest.raises(InvalidInput, match="floor"):
        bg.Items(2).floor_values(["score"])


def test_the_digest_order_depends_on_names_alone():
    names = [f"item {k}" for k in range(50)]
    order = digest_order(names)
    assert sorted(order) == list(range(50))
    back = names[::-1]
    assert [names[k] for k in order] == [back[k] for k in digest_order(back)]
