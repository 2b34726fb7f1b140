"""The pages of the API for the documentation site: signatures and docstrings as Markdown, a page a class or module."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

from riata import estimators

# Title of the page, module, its public names; None stands for all of them.
PAGES: tuple[tuple[str, str, tuple[str, ...] | None], ...] = (
    *(
        (name, "riata", (name,))
        for name in estimators.__all__
        if name[0].isupper() and name != "ESTIMATORS"
    ),
    ("Block", "riata", ("Block",)),
    (
        "Functions",
        "riata",
        ("load", "open_source", "ReadOptions", "train", "sweep", "diff"),
    ),
    (
        "Errors",
        "riata",
        ("RiataError", "DataError", "ModelError", "SettingsError", "DivergenceError"),
    ),
    ("riata.plot", "riata.plot", None),
    ("riata.report", "riata.report", None),
    ("riata.interior", "riata.interior", None),
    ("riata.river", "riata.river", None),
    ("riata.shards", "riata.shards", None),
    ("riata.dask", "riata.dask", None),
)
ENTRY = re.compile(r"(\*{0,2}[a-zA-Z_]\w*(?:, \*{0,2}\w+)*) ?: (?=\S)")


def api_pages() -> Iterator[tuple[str, str]]:
    """File name and text of every page whose module can be imported here."""
    for title, module_name, names in PAGES:
        try:
            module = importlib.import_module(module_name)
        except ImportError:
            continue
        lines = [f"# {title}", ""]
        if names is None:
            lines += [*markdown(inspect.getdoc(module) or ""), ""]
        one_class = names == (title,)
        for name in names or sorted(getattr(module, "__all__", None) or defined_in(module)):
            thing = getattr(module, name)
            lines += described(f"{module_name}.{name}", thing, 1 if one_class else 2)
        yield f"api/{title}.md", "\n".join(lines)


def not_shown(pages: tuple[tuple[str, str, tuple[str, ...] | None], ...] = PAGES) -> list[str]:
    """Public names of `riata` that have no page."""
    shown = {name for _, module, names in pages if module == "riata" for name in names or ()}
    everything = importlib.import_module("riata").__all__
    return sorted(name for name in everything if name not in shown and not name.startswith("__"))


def defined_in(module: Any) -> list[str]:
    own = vars(module).items()
    return [
        name
        for name, value in own
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def described(name: str, thing: Any, depth: int) -> list[str]:
    """Heading (none at depth 1: the page has it), signature and docstring; for classes their methods as well."""
    said = inspect.getdoc(thing)
    if not callable(thing) or not said:
        return []
    short = name.rpartition(".")[2]
    lines = [f"{'#' * depth} {short}", ""] if depth > 1 else []
    lines += ["```python", signature(name if depth < 3 else short, thing), "```", ""]
    lines += [*markdown(said), ""]
    if inspect.isclass(thing) and not issubclass(thing, Exception) and depth < 3:
        for method, value in sorted(inspect.getmembers(thing)):
            own = str(getattr(value, "__module__", "")).startswith("riata")
            if not method.startswith("_") and callable(value) and own:
                lines += described(f"{name}.{method}", value, depth + 1)
    return lines


def signature(name: str, thing: Any) -> str:
    """`name(parameters)`, a parameter a line where they do not fit on one."""
    try:
        called = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    parameters = [p for p in called.parameters.values() if p.name != "self"]
    said: list[str] = []
    named_only = False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not named_only:
            said.append("*")
        named_only = named_only or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        kind = "" if p.annotation is p.empty else f": {inspect.formatannotation(p.annotation)}"
        default = "" if p.default is p.empty else f" = {p.default!r}"
        said.append(stars + p.name + kind.replace("'", "") + default)
    back = called.return_annotation
    ending = (
        "" if back is called.empty or inspect.isclass(thing) else f" -> {back}".replace("'", "")
    )
    line = f"{name}({', '.join(said)}){ending}"
    if len(line) <= 88:
        return line
    return f"{name}(\n" + "".join(f"    {one},\n" for one in said) + f"){ending}"


def markdown(docstring: str) -> Iterator[str]:
    """A docstring as Markdown: examples as code, lists of parameters as lists."""
    for part in re.split(r"\n\s*\n", docstring):
        lines = part.splitlines()
        if len(lines) > 1 and set(lines[1].strip()) == {"-"}:  # a heading such as Parameters
            yield from (f"**{lines[0].strip()}**", "")
            lines = lines[2:]
        if not lines:
            continue
        if lines[0].lstrip().startswith(">>>"):
            yield from ("```python", *lines, "```")
        elif lines[0].startswith("    "):
            yield from ("```text", *lines, "```")
        elif ENTRY.match(lines[0]) and all(ENTRY.match(x) or x.startswith(" ") for x in lines):
            yield from entries(lines)
        else:
            yield from lines
        yield ""


def entries(lines: list[str]) -> Iterator[str]:
    """`name : what it is` with what is indented below, as items of a list."""
    for line in lines:
        found = ENTRY.match(line)
        if found:
            names = ", ".join(f"`{name}`" for name in found[1].split(", "))
            yield f"- {names}: {line[found.end() :]}"
        else:
            yield "  " + line.strip()
