"""The course of one call: what the candidates have said so far."""

from __future__ import annotations

from spatch_core._call.course import Course, reason_of


def test_a_course_begins_with_what_was_said_before() -> None:
    said = {"first": "it is too small"}
    course = Course(said)
    course.reasons["second"] = "it is too large"
    assert said == {"first": "it is too small"}
    assert Course().reasons == {}


def test_what_was_postponed_is_taken_once() -> None:
    course = Course()
    course.postponed += [1, 3]
    assert [*course.take_postponed()] == [1, 3]
    assert [*course.take_postponed()] == []


def test_an_exception_without_a_text_is_a_reason() -> None:
    class BrokenError(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert reason_of(KeyError()) == "it raised KeyError"
    assert reason_of(ValueError("no")) == "it raised ValueError: no"
    assert reason_of(BrokenError()) == "it raised BrokenError"
