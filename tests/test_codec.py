"""Types become JSON and come back the same; hostile JSON is refused with its pointer."""

from __future__ import annotations

import dataclasses
import time
import types
import typing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import codec, model
from agent.errors import BundleError
from agent.model import Bundle, Device, Facts, Gap, Host, Limits, Observations, Stage, Verdict

from .samples import failed_stages, lost_gpu, sample_bundle

# A range that JSON keeps exactly, and floats that are numbers.
LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=12),
    int: st.integers(-(2**53) + 1, 2**53 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    Any: st.none() | st.integers(0, 9) | st.text(max_size=4),
}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Every value that a type hint of the model allows."""
    origin = typing.get_origin(hint)
    if hint in LEAVES:
        return LEAVES[hint]
    if hint is type(None):
        return st.none()
    if origin is typing.Literal:
        return st.sampled_from(typing.get_args(hint))
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*(values_of(item) for item in typing.get_args(hint)))
    if origin is tuple:
        return st.lists(values_of(typing.get_args(hint)[0]), max_size=2).map(tuple)
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        members = {item.name: values_of(hints[item.name]) for item in dataclasses.fields(hint)}
        return st.builds(typing.cast(Any, hint), **members)
    return st.dictionaries(st.text(max_size=4), LEAVES[Any], max_size=2)


ALL_TYPES = [
    item
    for item in vars(model).values()
    if isinstance(item, type) and dataclasses.is_dataclass(item)
]


@pytest.mark.parametrize("cls", ALL_TYPES, ids=lambda cls: str(cls.__name__))
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_every_type_of_the_model_survives_json(cls: Any, data: st.DataObject) -> None:
    value = data.draw(values_of(cls))
    assert codec.from_json(cls, codec.to_json(value)) == value


def test_a_bundle_survives_json_whole() -> None:
    bundle = sample_bundle(facts=lost_gpu(), stages=failed_stages())
    assert codec.from_json(Bundle, codec.to_json(bundle)) == bundle


def test_unknown_optional_members_are_left_out_but_required_ones_and_facts_are_not() -> None:
    assert codec.to_json(Gap(pointer="/a", why="b", said_by="c")) == {
        "pointer": "/a",
        "why": "b",
        "said_by": "c",
    }
    assert codec.to_json(Host(cpu_count=0, is_root=False)) == {"cpu_count": 0, "is_root": False}
    verdict = sample_bundle().verdict
    assert codec.to_json(verdict)["blocked_at"] is None
    assert codec.to_json(Facts())["devices"] == []
    assert "lines" not in codec.to_json(Observations())


def test_members_from_a_newer_version_are_ignored() -> None:
    host = codec.from_json(Host, {"cpu_count": 4, "of_the_future": {"deep": [1]}})
    assert host == Host(cpu_count=4)


def test_a_member_without_default_may_be_missing_only_where_it_may_be_none() -> None:
    verdict = codec.to_json(sample_bundle().verdict)
    del verdict["first_error"]
    assert codec.from_json(Verdict, verdict).first_error is None
    del verdict["reason"]
    with pytest.raises(BundleError, match="/reason should be text, but is missing"):
        codec.from_json(Verdict, verdict)


@pytest.mark.parametrize(
    ("cls", "value", "sentence"),
    [
        (Bundle, [], "the whole document should be an object, but is a list"),
        (Host, {"cpu_count": "4"}, "/cpu_count should be a whole number, but is the text '4'"),
        (Host, {"cpu_count": True}, "/cpu_count should be a whole number, but is true or false"),
        (Host, {"cpu_count": 4.5}, "/cpu_count should be a whole number, but is a number"),
        (Host, {"is_root": 1}, "/is_root should be true or false, but is a number"),
        (Host, {"disks": {}}, "/disks should be a list, but is an object"),
        (Host, {"disks": [{"mount": "/"}, {"mount": 3}]}, "/disks/1/mount should be text"),
        (Host, {"groups": ["a", None]}, "/groups/1 should be text, but is missing"),
        (Limits, {"pids_limit": []}, "/pids_limit should be a whole number or text"),
        (Device, {"id": "a", "vendor": "intel"}, "/vendor should be one of nvidia, amd, other"),
        (Stage, {"name": "a", "subject": "b", "status": "passed", "data": []}, "/data should be"),
        (Facts, {"devices": [{"vendor": "amd"}]}, "/devices/0/id should be text, but is missing"),
        (Facts, {"host": None}, "/host should be an object, but is missing"),
    ],
)
def test_wrong_types_are_refused_with_their_pointer(cls: Any, value: Any, sentence: str) -> None:
    with pytest.raises(BundleError) as caught:
        codec.from_json(cls, value)
    assert sentence in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 4


def test_the_pointer_begins_where_the_value_stands() -> None:
    with pytest.raises(BundleError, match=r"/facts/host/cpu_count should"):
        codec.from_json(Host, {"cpu_count": "x"}, "/facts/host")


def test_hostile_text_in_the_message_is_cut_and_spelled_out() -> None:
    with pytest.raises(BundleError) as caught:
        codec.from_json(Host, {"cpu_count": "\x1b[31m" + "\u202e" * 100})
    assert caught.value.message.isascii()
    assert "\x1b" not in caught.value.message
    assert len(caught.value.message) < 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(place=st.integers(0, 10_000), other=JSON)
def test_any_change_in_a_bundle_is_read_or_refused_but_never_crashes(
    place: int, other: Any
) -> None:
    tree = codec.to_json(sample_bundle(facts=lost_gpu()))
    containers: list[Any] = [tree]
    for container in containers:
        items = container.values() if isinstance(container, dict) else container
        containers += [item for item in items if isinstance(item, (dict, list)) and item]
    chosen = containers[place % len(containers)]
    keys = list(chosen) if isinstance(chosen, dict) else range(len(chosen))
    chosen[list(keys)[place // 7 % len(chosen)]] = other
    try:
        codec.from_json(Bundle, tree)
    except BundleError as error:
        assert error.message.startswith("The bundle is malformed: /")  # noqa: PT017


def test_a_value_without_json_form_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="has no JSON form"):
        codec.to_json(object())


def test_a_bundle_of_a_large_machine_is_read_quickly() -> None:
    stage = failed_stages()[-1]
    tree = codec.to_json(sample_bundle(stages=tuple([stage] * 2000)))
    codec.from_json(Bundle, codec.to_json(sample_bundle()))  # decoders are built once
    began = time.process_time()
    codec.from_json(Bundle, tree)
    assert time.process_time() - began < 1.0
