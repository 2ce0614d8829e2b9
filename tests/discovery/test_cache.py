"""The cache of parsed descriptions gives the same result as parsing, or is ignored."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import spatch_core
from spatch_core import BackendSkippedWarning, BackendSystem
from spatch_core._description.description import Description, Implementation
from spatch_core._discovery.private_folder import HEADER, TAG, TAG_TEXT
from spatch_core.testing import isolated, run_python, write_distribution

CORE = Path(spatch_core.__file__).parents[1]
GROUP = "cachelib.backends"
HOUR = 3600

TOML = """
    name = "loud"
    primary_types = ["builtins:str", "~builtins:bytes", "@numbers:Number"]
    secondary_types = ["builtins:int"]
    requires_opt_in = false
    higher_priority_than = ["other", "third"]
    lower_priority_than = ["default"]

    [functions.defaults]
    should_run = "loud.code:ask"

    [functions.auto-generation]
    backend = "loud:backend"
    modules = ["loud.code", "loud.more"]

    [functions."cachelib:double"]
    function = "loud.code:double"
    uses_context = true
    additional_docs = 'Louder, "größer", \\u0000 and \\n and so on.'

    [functions."cachelib:halve"]
    function = "loud.code:halve"
    should_run = "loud.code:other"

    [functions."cachelib:ärgern"]
    function = "loud.code:ärgern"
"""
SIMPLE = """
    name = "{name}"
    primary_types = ["builtins:str"]
    [functions."cachelib:double"]
    function = "{name}.code:double"
"""


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for the caches of a user; the cache is turned on."""
    folder = tmp_path / "caches"
    monkeypatch.delenv("SPATCH_CORE_CACHE", raising=False)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(folder))
    return folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def install(site: Path, name: str, content: str = SIMPLE, group: str = GROUP) -> Path:
    """Install a backend long ago; return its file."""
    write_distribution(
        site,
        f"{name}-dist",
        entry_points={group: {name: f"{name}:backend.toml"}},
        files={f"{name}/__init__.py": "", f"{name}/backend.toml": content.replace("{name}", name)},
    )
    file = site / name / "backend.toml"
    age(file)
    return file


def age(file: Path, seconds: float = HOUR) -> None:
    status = file.stat()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns - int(seconds * 1e9)))


def swap(file: Path, old: str = "double", new: str = "triple") -> None:
    """Change the content of a file, but neither its size nor its modification time."""
    status = file.stat()
    content = file.read_text(encoding="utf-8").replace(old, new)
    file.write_text(content, encoding="utf-8")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.stat().st_size == status.st_size


def discover(group: str = GROUP) -> BackendSystem:
    system = BackendSystem(group, "CACHELIB", ["builtins:float"])
    assert "default" in system.backends
    return system


def functions(name: str = "loud", group: str = GROUP) -> list[str]:
    """Names of the functions that a backend implements, according to the library."""
    return [each.partition(":")[2] for each in discover(group).backends[name].functions]


def files(caches: Path) -> list[Path]:
    """The files of the cache, without the tag of their folder."""
    folder = caches / "spatch-core"
    assert (folder / TAG).read_bytes() == TAG_TEXT
    return sorted(each for each in folder.iterdir() if each.name != TAG)


def recall(file: Path) -> bool:
    """Whether discovery takes a description from the cache, rather than from its file."""
    (told,) = {"double", "triple"} & set(
        file.read_text(encoding="utf-8").replace('"', ":").split(":")
    )
    OPENED.clear()
    WATCHED.add(str(file))
    try:
        assert functions(file.parent.name) == [told]
    finally:
        WATCHED.remove(str(file))
    return not OPENED


WATCHED: set[str] = set()
OPENED: list[str] = []


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Note the watched files that are opened."""
    if WATCHED and event == "open" and str(arguments[0]) in WATCHED:
        OPENED.append(str(arguments[0]))


sys.addaudithook(watch)


class TestSecondProcess:
    """It reads no TOML."""

    SCRIPT = f"""
        import sys
        for name in ("tomllib", "tomli"):
            sys.modules.pop(name, None)  # a coverage tool may have imported it
        from spatch_core import BackendSystem
        system = BackendSystem({GROUP!r}, "CACHELIB")
        print(*system.backends["loud"].functions)
        print({{"tomllib", "tomli"}} & sys.modules.keys() or "not parsed")
    """

    def run(self, site: Path, caches: Path, **variables: str) -> list[str]:
        where = dict.fromkeys(("XDG_CACHE_HOME", "LOCALAPPDATA"), str(caches))
        environment = {"SPATCH_CORE_CACHE": None, **where, **variables}
        done = run_python(
            self.SCRIPT, path=[site, CORE], environment=environment, options=["-W", "error"]
        )
        return done.stdout.splitlines()

    def test_a_description_that_another_process_parsed_is_not_parsed_again(
        self, site: Path, caches: Path
    ) -> None:
        install(site, "loud")
        assert self.run(site, caches)[1] != "not parsed"

        assert self.run(site, caches) == ["cachelib:double", "not parsed"]

    def test_many_at_once_do_no_harm(self, site: Path, caches: Path) -> None:
        install(site, "loud")
        install(site, "other")

        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda _: self.run(site, caches), range(6)))

        assert {each[0] for each in found} == {"cachelib:double"}
        assert len(files(caches)) == 1
        assert self.run(site, caches)[1] == "not parsed"

    def test_it_can_be_turned_off(self, site: Path, caches: Path) -> None:
        install(site, "loud")

        assert self.run(site, caches, SPATCH_CORE_CACHE="off")[1] != "not parsed"

        assert not caches.exists()


class TestSameDescription:
    """A cached description looks like a parsed one."""

    @pytest.fixture
    def both(self, site: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Description, Description]:
        install(site, "loud", TOML)
        parsed = discover().backends["loud"]
        monkeypatch.setattr("tomllib.loads" if sys.version_info >= (3, 11) else "tomli.loads", None)
        cached = discover().backends["loud"]
        assert parsed.functions["cachelib:double"].should_run == "loud.code:ask"
        return parsed, cached

    def test_every_field_is_the_same(self, both: tuple[Description, Description]) -> None:
        parsed, cached = both
        for field in Description.__dataclass_fields__:
            one, other = getattr(parsed, field), getattr(cached, field)
            assert one == other, field
            assert repr(one) == repr(other)
            assert type(one) is type(other)
        assert parsed == cached
        assert cached == parsed
        assert hash(parsed) == hash(cached)
        assert repr(parsed) == repr(cached)
        assert str(parsed.source) == str(cached.source)
        assert parsed.source.distribution == cached.source.distribution == "loud-dist"

    def test_a_call_and_its_explanation_are_the_same(self, site: Path) -> None:
        install(site, "loud")
        (site / "loud" / "code.py").write_text("def double(x): return 'loud'\n", encoding="utf-8")
        answers = []
        for _ in range(2):
            system = BackendSystem(GROUP, "CACHELIB", ["builtins:float"])

            @system.dispatchable("x", module="cachelib", qualname="double")
            def double(x: object) -> str:
                return "default"

            answers.append((double("text"), str(double.explain("text")), double.__doc__))
        assert answers[0] == answers[1]
        assert answers[0][0] == "loud"

    def test_a_call_reads_the_functions_that_it_needs(
        self, site: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """F6: of other functions, docstrings need only the texts."""
        content = TOML.replace("builtins:str", "decimal:Decimal")
        install(site, "loud", content)
        discover()
        system = BackendSystem(GROUP, "CACHELIB", ["builtins:float"])
        functions: list[Any] = [
            system.dispatchable("x", module="cachelib", qualname=name)(lambda x: "default")
            for name in ("double", "halve")
        ]
        made: list[str] = []
        initialize = Implementation.__init__

        def count(self: Implementation, function: str, *rest: Any, **fields: Any) -> None:
            made.append(function)
            initialize(self, function, *rest, **fields)

        monkeypatch.setattr(Implementation, "__init__", count)
        assert functions[1](1.0) == "default"
        assert not made
        assert "Louder" in functions[0].__doc__
        assert "loud\n    Types: decimal:Decimal" in functions[1].__doc__

    def test_the_order_is_the_same(self, site: Path) -> None:
        for name, fields in [("a", ""), ("b", "lower_priority_than = ['c']"), ("c", "")]:
            install(site, name, f"{fields}\nname = '{name}'\nprimary_types = ['builtins:str']\n")

        orders = [list(discover().backends) for _ in range(2)]

        assert orders == [["default", "a", "c", "b"]] * 2

    def test_two_threads_may_read_the_functions_at_once(self, site: Path) -> None:
        install(site, "loud", TOML)
        discover()
        description = discover().backends["loud"]

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: description.functions["cachelib:double"], range(64)))

        assert len(set(map(id, found))) == 1


class TestAnyDescription:
    """Any parsed description is found again."""

    words = st.text("abcXYZ_äß", min_size=1, max_size=5)
    identifiers = st.builds("{}:{}".format, words, words)
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    tables = st.dictionaries(
        identifiers,
        st.fixed_dictionaries(
            {"function": identifiers},
            optional={
                "should_run": identifiers,
                "uses_context": st.booleans(),
                "additional_docs": texts,
            },
        ),
        max_size=4,
    )

    @given(tables, st.lists(identifiers, min_size=1, max_size=3), st.booleans())
    def test_functions(
        self, tables: dict[str, dict[str, Any]], types: list[str], opt_in: bool
    ) -> None:
        lines = ["name = 'loud'", f"primary_types = {types!r}"]
        lines.append(f"requires_opt_in = {json.dumps(opt_in)}")
        for identifier, fields in tables.items():
            lines.append(f"[functions.'{identifier}']")
            for key, value in fields.items():
                text = json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")
                lines.append(f"{key} = {text}")
        folder = Path(os.environ["XDG_CACHE_HOME"]).parent
        shutil.rmtree(folder / "caches", ignore_errors=True)
        install(folder / "site", "loud", "\n".join(lines))
        system = BackendSystem(GROUP, "CACHELIB")
        variables = {"SPATCH_CORE_CACHE": None}
        with isolated(system, path=[folder / "site"], environment=variables):
            parsed = system.backends["loud"]
            WATCHED.add(str(folder / "site" / "loud" / "backend.toml"))
            OPENED.clear()
            system.reload()
            cached = system.backends["loud"]
            cached.functions.values()
            WATCHED.clear()
            assert not OPENED

        assert cached is not parsed
        assert cached == parsed
        assert repr(cached) == repr(parsed)
        assert {key: Implementation(**fields) for key, fields in tables.items()} == dict(
            cached.functions
        )


class TestKey:
    """A file that has changed, or may have, is parsed."""

    def test_a_file_that_has_not_changed_is_recalled(self, site: Path) -> None:
        file = install(site, "loud")
        assert not recall(file)
        assert recall(file)

    def test_another_size(self, site: Path) -> None:
        file = install(site, "loud")
        discover()
        status = file.stat()
        file.write_text(file.read_text().replace("double", "quadruple"), encoding="utf-8")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

        assert functions() == ["quadruple"]
        assert functions() == ["quadruple"]

    def test_another_time(self, site: Path) -> None:
        file = install(site, "loud")
        discover()
        age(file, 1e-6)

        assert not recall(file)
        assert recall(file)

    def test_a_time_that_was_put_back(self, site: Path) -> None:
        """An installer may set all modification times to the same; it cannot set ``st_ctime``."""
        file = install(site, "loud")
        discover()
        swap(file)

        assert functions() == ["triple"]
        assert functions() == ["triple"]

    @pytest.mark.parametrize("seconds", [0, -HOUR], ids=["now", "in-the-future"])
    def test_a_file_that_has_just_been_written_may_be_written_again(
        self, site: Path, caches: Path, seconds: float
    ) -> None:
        """A change within one tick of the file system's clock would not show."""
        file = install(site, "loud")
        age(file, seconds - HOUR)
        discover()

        assert not recall(file)
        assert not caches.exists()

    def test_another_environment(self, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = install(site, "loud")
        discover()
        for name, value in (("prefix", str(site)), ("hexversion", 1)):
            monkeypatch.setattr(sys, name, value)

            assert not recall(file)
            assert recall(file)

    def test_other_rules(self, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """In a checkout, the validator may change without a new version."""
        from spatch_core._description import parsing

        file = install(site, "loud")
        discover()
        monkeypatch.setattr(parsing, "__file__", str(file))

        assert not recall(file)
        assert recall(file)

        monkeypatch.undo()

    def test_the_name_of_another_entry_point(self, site: Path) -> None:
        """It is a fault if the names in the file and of the entry point differ."""
        install(site, "loud")
        discover()
        write_distribution(site, "other-dist", entry_points={GROUP: {"other": "loud:backend.toml"}})

        for _ in range(2):
            with pytest.warns(BackendSkippedWarning, match="its entry point 'other'"):
                assert list(discover().backends) == ["default", "loud"]

    def test_a_path_that_depends_on_the_working_directory(
        self, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install(site, "loud")
        install(tmp_path / "elsewhere", "loud", SIMPLE.replace("double", "triple"))
        monkeypatch.setattr(sys, "path", ["", *[each for each in sys.path if each != str(site)]])
        for folder, expected in [(site, "double"), (tmp_path / "elsewhere", "triple")] * 2:
            monkeypatch.chdir(folder)
            assert functions() == [expected]

    def test_a_file_in_a_zip_file_is_parsed_every_time(
        self, site: Path, caches: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install(site, "loud")
        archive = shutil.make_archive(str(site), "zip", site)
        shutil.rmtree(site)
        monkeypatch.syspath_prepend(archive)

        assert functions() == ["double"]
        assert functions() == ["double"]
        assert not caches.exists()

    @pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
    )
    def test_a_file_that_may_not_be_read_any_more(self, site: Path) -> None:
        file = install(site, "loud")
        discover()
        file.chmod(0)

        with pytest.warns(BackendSkippedWarning, match="PermissionError"):
            assert list(discover().backends) == ["default"]


class TestFaults:
    """Faulty descriptions are read every time, and say the same every time."""

    @pytest.mark.parametrize(
        "content",
        ["name = 'loud'", "= not TOML", "name = 'loud'\nprimary_types = ['x', 'y']", "\xff"],
    )
    def test_messages_stay(self, site: Path, caches: Path, content: str) -> None:
        install(site, "loud", content)
        found = []
        for _ in range(3):
            with pytest.warns(BackendSkippedWarning) as caught:
                problems = discover().problems
            found.append((problems, [str(each.message) for each in caught]))

        assert found[0] == found[1] == found[2]
        assert found[0][0]
        assert not caches.exists()

    def test_a_faulty_one_does_not_keep_others_out(self, site: Path) -> None:
        install(site, "broken", "name = 1")
        file = install(site, "loud")
        with pytest.warns(BackendSkippedWarning):
            discover()
        with pytest.warns(BackendSkippedWarning):
            assert recall(file)

    def test_one_that_becomes_faulty_says_so(self, site: Path) -> None:
        file = install(site, "loud")
        discover()
        file.write_text("name = 1", encoding="utf-8")
        age(file)

        with pytest.warns(BackendSkippedWarning, match="its entry point|cannot name a backend"):
            assert list(discover().backends) == ["default"]


class TestBlocked:
    """Descriptions of blocked backends are neither written nor used."""

    def test_a_blocked_one_is_not_written(
        self, site: Path, caches: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install(site, "loud")
        install(site, "secret")
        monkeypatch.setenv("CACHELIB_BLOCK", "secret")
        discover()

        (file,) = files(caches)
        assert b"secret" not in file.read_bytes()
        assert b"loud" in file.read_bytes()

    def test_an_entry_written_earlier_stays_and_is_not_used(
        self, site: Path, caches: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret = install(site, "secret")
        discover()
        install(site, "loud")
        monkeypatch.setenv("CACHELIB_BLOCK", "secret")

        assert list(discover().backends) == ["default", "loud"]

        (file,) = files(caches)
        assert b"secret" in file.read_bytes()
        monkeypatch.delenv("CACHELIB_BLOCK")
        assert recall(secret)


GARBAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "one-line": lambda content: content.partition(b"\n")[0],
    "first-half": lambda content: content[: len(content) // 2],
    "twice": lambda content: content * 2,
    "another-character": lambda content: content.replace(b"double", b"triple"),
    "not-a-header": lambda content: b"x" + content,
    "not-a-checksum": lambda content: content.replace(HEADER, HEADER + b"x"),
    "binary": lambda content: bytes(range(256)),
    "JSON": lambda content: b"{}",
    "pickle": pickle.dumps,
}


def signed(head: bytes, *lines: bytes) -> bytes:
    """A file with a checksum that is right."""
    from binascii import crc32

    content = b"\n".join([head, *lines])
    return HEADER + b"%08x\n" % crc32(content) + content


def twisted(content: bytes, old: bytes, new: bytes) -> bytes:
    """A file that says something else, with a checksum that is right."""
    _, head, *lines = content.split(b"\n")
    assert old in b"\n".join([head, *lines])
    return signed(*(line.replace(old, new) for line in (head, *lines)))


for old, new in (
    (b'["cachelib:double"]', b'"cachelib:double"'),
    (b'["cachelib:double"]', b"[1]"),
    (b'["builtins:str"]', b"[]"),
    (b'["builtins:str"]', b'["no pattern"]'),
    (b'["builtins:str"]', b'{"builtins:str":1}'),
    (b'"loud",', b"1,"),
    (b"false,[],[]", b"0,[],[]"),
    (b"false,[],[]", b"false,[1],[]"),
    (b"false,[],[],null", b"false,[],[],[1,2]"),
    (b"false,[],[],null", b"false,[],[],[]"),
):
    GARBAGE[f"twisted-{old!r}-{new!r}"] = (
        lambda content, old=old, new=new: twisted(content, old, new)  # type: ignore[misc]  # inferred
    )


for text in (b"", b"{}", b"[]", b"null", b"\xff", b'{"key": 1}', b"[" * 100_000):
    GARBAGE[f"signed-{text[:9]!r}"] = lambda content, text=text: signed(text)  # type: ignore[misc]  # inferred


class TestUnusableCaches:
    """A corrupt cache causes neither errors nor warnings."""

    @pytest.fixture
    def file(self, site: Path, caches: Path) -> Path:
        install(site, "loud")
        discover()
        (found,) = files(caches)
        return found

    @pytest.fixture
    def description(self, site: Path) -> Path:
        return site / "loud" / "backend.toml"

    @pytest.mark.parametrize("garbage", GARBAGE)
    def test_garbage_is_ignored_and_replaced(
        self, file: Path, description: Path, garbage: str
    ) -> None:
        file.write_bytes(GARBAGE[garbage](file.read_bytes()))

        assert not recall(description)
        assert recall(description)

    def test_an_entry_of_another_file_that_is_garbage(
        self, site: Path, file: Path, description: Path
    ) -> None:
        """It does no harm, not even when a new entry is written beside it."""
        _, head, line = file.read_bytes().split(b"\n")
        known = json.loads(head)
        known["files"] = {str(site / "elsewhere.toml"): 5, **known["files"]}
        file.write_bytes(signed(json.dumps(known).encode(), b"[]", line))
        install(site, "late")

        assert functions() == ["double"]
        assert recall(description)

    @pytest.mark.parametrize(
        "line",
        [
            b"",
            b"{}",
            b"[]",
            b'[["loud.code:double"],[null],[false]]',
            b'[["loud.code:double"],[null],[false],[""],[""]]',
            b'[[],[null],[false],[""]]',
            b'[[1],[null],[false],[""]]',
            b'[["loud.code:double"],[null],[0],[""]]',
            b"[" * 100_000,
        ],
        ids=lambda line: repr(line[:40]),
    )
    def test_garbage_about_functions_is_ignored(self, file: Path, line: bytes) -> None:
        """It is read when a function is looked up; then the file is parsed after all."""
        _, head, _ = file.read_bytes().split(b"\n")
        file.write_bytes(signed(head, line))

        (function,) = discover().backends["loud"].functions.values()
        assert function.function == "loud.code:double"
        assert (function.should_run, function.uses_context) == (None, False)

    def test_a_folder_in_its_place(self, file: Path, description: Path, caches: Path) -> None:
        file.unlink()
        file.mkdir()

        assert not recall(description)
        assert not recall(description)
        assert files(caches) == [file]

    @pytest.mark.skipif(sys.platform == "win32", reason="links take privileges")
    def test_a_link_in_its_place(self, file: Path, description: Path, tmp_path: Path) -> None:
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")

        assert not recall(description)
        assert recall(description)
        assert not file.is_symlink()

    @pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
    @pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
    def test_a_file_that_others_may_have_written(
        self, file: Path, description: Path, mode: int
    ) -> None:
        file.chmod(mode)

        assert not recall(description)
        assert file.stat().st_mode & 0o777 == 0o600
        assert recall(description)

    @pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
    @pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
    def test_a_folder_that_others_may_write_to(
        self, file: Path, description: Path, mode: int
    ) -> None:
        content = file.read_bytes()
        file.parent.chmod(mode)

        assert not recall(description)
        assert file.read_bytes() == content

    @pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
    )
    @pytest.mark.parametrize("what", ["file", "folder"])
    def test_a_file_or_folder_of_another_user(
        self, file: Path, description: Path, what: str
    ) -> None:
        os.chown(file if what == "file" else file.parent, 12345, 12345)

        assert not recall(description)

    @pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
    )
    def test_root_makes_no_folder_in_the_home_of_another_user(
        self, site: Path, caches: Path, tmp_path: Path
    ) -> None:
        install(site, "loud")
        caches.mkdir()
        os.chown(caches, 12345, 12345)

        discover()

        assert list(caches.iterdir()) == []

    def test_a_folder_that_cannot_be_made(self, site: Path, caches: Path) -> None:
        file = install(site, "loud")
        caches.write_text("a file", encoding="utf-8")

        assert not recall(file)
        assert not recall(file)

    @pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
    )
    def test_a_folder_that_cannot_be_written_to(self, site: Path, caches: Path) -> None:
        file = install(site, "loud")
        caches.mkdir(mode=0o500)

        assert not recall(file)


class TestUpkeep:
    """Private, complete, and no larger than it must be."""

    @pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
    @pytest.mark.parametrize("umask", [0, 0o022])
    def test_only_the_user_may_read_or_write_it(self, site: Path, caches: Path, umask: int) -> None:
        install(site, "loud")
        earlier = os.umask(umask)
        try:
            discover()
        finally:
            os.umask(earlier)

        (file,) = files(caches)
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700

    def test_it_is_not_written_again_without_need(self, site: Path, caches: Path) -> None:
        install(site, "loud")
        discover()
        (before,) = files(caches)
        status = before.stat()
        discover()

        (after,) = files(caches)
        assert (after.stat().st_ino, after.stat().st_mtime_ns) == (
            status.st_ino,
            status.st_mtime_ns,
        )

    def test_no_folder_is_made_if_there_is_nothing_to_keep(self, site: Path, caches: Path) -> None:
        discover()

        assert not caches.exists()

    def test_two_libraries_keep_their_own_entries(self, site: Path, caches: Path) -> None:
        one = install(site, "one", group="cachelib.one")
        other = install(site, "other", group="cachelib.other")
        for _ in range(2):
            assert functions("one", "cachelib.one") == ["double"]
            assert functions("other", "cachelib.other") == ["double"]
        WATCHED.update((str(one), str(other)))
        OPENED.clear()
        assert functions("one", "cachelib.one") == ["double"]
        assert functions("other", "cachelib.other") == ["double"]
        WATCHED.clear()
        assert not OPENED
        assert len(files(caches)) == 2

    def test_two_folders_in_turn_keep_their_own_entries(
        self, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As when programs of one environment set ``PYTHONPATH``."""
        both = [install(site, "loud"), install(tmp_path / "second", "loud")]
        path = [each for each in sys.path if each != str(site)]
        for number in (0, 1, 0, 1):
            monkeypatch.setattr(sys, "path", [str(both[number].parents[1]), *path])
            discover()
        for number in (0, 1):
            monkeypatch.setattr(sys, "path", [str(both[number].parents[1]), *path])
            assert recall(both[number])

    def test_entries_of_removed_or_changed_files_are_dropped(
        self, site: Path, caches: Path
    ) -> None:
        install(site, "lost")
        changed = install(site, "edited")
        discover()
        shutil.rmtree(site / "lost")
        shutil.rmtree(site / "lost_dist-0.1.0.dist-info")
        changed.write_text("name = 'edited'", encoding="utf-8")
        install(site, "loud")
        with pytest.warns(BackendSkippedWarning):
            discover()

        (file,) = files(caches)
        assert b"loud" in file.read_bytes()
        assert b"lost" not in file.read_bytes()
        assert b"edited" not in file.read_bytes()

    def test_files_that_have_not_been_used_for_long_are_removed(
        self, site: Path, caches: Path
    ) -> None:
        """Environments come and go."""
        install(site, "one", group="cachelib.one")
        install(site, "other", group="cachelib.other")
        discover("cachelib.one")
        (old,) = files(caches)
        age(old, 100 * 24 * HOUR)

        discover("cachelib.other")

        (new,) = files(caches)
        assert new != old

    def test_other_things_in_the_folder_do_not_matter(self, site: Path, caches: Path) -> None:
        one = install(site, "one", group="cachelib.one")
        assert functions("one", "cachelib.one") == ["double"]
        folder = caches / "spatch-core" / "folder"
        folder.mkdir(mode=0o700)
        age(folder, 100 * 24 * HOUR)
        file = install(site, "loud")

        assert not recall(file)
        assert recall(file)
        assert folder.is_dir()
        assert one.exists()

    def test_the_number_of_files_is_limited(self, site: Path, caches: Path) -> None:
        """A program may make a new environment whenever it is run."""
        install(site, "one", group="cachelib.one")
        discover("cachelib.one")
        install(site, "loud")
        folder = caches / "spatch-core"
        for number in range(200):
            (folder / f"{number}.cache").write_bytes(HEADER)
            (folder / f"{number}.cache").chmod(0o600)
            age(folder / f"{number}.cache", number * HOUR)
        discover()

        assert len(files(caches)) == 100
        assert (folder / "0.cache").exists()
        assert not (folder / "199.cache").exists()

    def test_files_that_are_used_stay(self, site: Path, caches: Path) -> None:
        install(site, "one", group="cachelib.one")
        install(site, "other", group="cachelib.other")
        discover("cachelib.one")
        (old,) = files(caches)
        age(old, 100 * 24 * HOUR)

        discover("cachelib.one")
        discover("cachelib.other")

        assert len(files(caches)) == 2


class TestPlace:
    """Where the user's caches are."""

    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("XDG_CACHE_HOME")
        return tmp_path

    @pytest.mark.skipif(
        sys.platform in {"win32", "darwin"}, reason="these systems have other folders"
    )
    @pytest.mark.parametrize("value", [None, "", "relative"])
    def test_in_the_home_folder(
        self, home: Path, site: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
    ) -> None:
        """The base-directory specification calls relative values invalid."""
        if value is not None:
            monkeypatch.setenv("XDG_CACHE_HOME", value)
        install(site, "loud")
        discover()

        assert len(files(home / ".cache")) == 1

    @pytest.mark.parametrize("value", ["", "relative", "/no/such/folder"])
    def test_without_a_home_folder_nothing_is_kept(
        self, home: Path, site: Path, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        monkeypatch.setenv("HOME", value)
        monkeypatch.setenv("LOCALAPPDATA", "")
        monkeypatch.chdir(site)
        file = install(site, "loud")

        assert not recall(file)
        assert not recall(file)
        assert not Path("/no").exists()
        assert sorted(each.name for each in site.iterdir()) == ["loud", "loud_dist-0.1.0.dist-info"]

    @pytest.mark.parametrize("value", ["off", "OFF", " off ", "0", "no", "false"])
    def test_turned_off_it_is_neither_read_nor_written(
        self, site: Path, caches: Path, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        file = install(site, "loud")
        discover()
        (kept,) = files(caches)
        content = kept.read_bytes()
        monkeypatch.setenv("SPATCH_CORE_CACHE", value)
        install(site, "other")

        assert not recall(file)
        assert kept.read_bytes() == content
