"""Options of commands: in sections; those of a method come from its learner's parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

import click

from riata.learners import FAMILIES, Learner

F = TypeVar("F", bound=Callable[..., Any])

_NEEDED = "output method loss label holdout passes class_weight max_memory resume initial quiet"
NEEDED = frozenset(_NEEDED.split())
"""The options of `riata train` that most people need."""
NOT_OPTIONS = ("outputs", "seed")
"""Parameters that follow from the data, or that the command has an option of its own for."""


class Option(click.Option):
    """An option that knows the section of the help it stands in."""

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


class Command(click.Command):
    """A command whose help has sections, and which knows the options of other programs."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from riata.cli.mistakes import say_what_was_meant

            say_what_was_meant(error)
            raise
        except click.BadParameter as error:
            from riata.cli.mistakes import say_which_is_near

            say_which_is_near(error)
            raise

    def shows(self, ctx: click.Context, parameter: click.Parameter) -> bool:
        """Whether the help has this option."""
        return True

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in filter(lambda p: self.shows(ctx, p), self.get_params(ctx)):
            record = (
                parameter.get_help_record(ctx) if parameter.param_type_name == "option" else None
            )
            if record is not None:
                section = getattr(parameter, "section", "Options")
                sections.setdefault(section, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def option(*names: str, section: str = "Options", **kwargs: Any) -> Callable[[F], F]:
    """`click.option` with a section."""
    return click.option(*names, cls=Option, section=section, **kwargs)


def count_option(
    name: str,
    least: int,
    metavar: str,
    help: str,
    default: int | None = None,
    section: str = "Training",
) -> Callable[[F], F]:
    """An option that takes a whole number."""
    return option(
        name,
        type=click.IntRange(min=least),
        metavar=metavar,
        default=default,
        section=section,
        help=help,
    )


def progress_option(help: str, section: str = "Output") -> Callable[[F], F]:
    """How progress is shown."""
    kinds = click.Choice(["auto", "bar", "lines", "none"])
    return option(
        "--progress", "progress_kind", type=kinds, default="auto", section=section, help=help
    )


def top_option(help: str) -> Callable[[F], F]:
    """How many features to show."""
    kind = click.IntRange(min=0)
    return option("--top", type=kind, default=10, show_default=True, help=help)


def is_on(parameter: str) -> bool:
    """Whether its option turns off what is on by default."""
    return parameter.startswith("fit_") or parameter == "polish"


def flag_name(parameter: str) -> str:
    """
    >>> flag_name("learning_rate"), flag_name("fit_intercept")
    ('--learning-rate', '--no-intercept')
    """
    if is_on(parameter):
        return f"--no-{parameter.removeprefix('fit_').replace('_', '-')}"
    return f"--{parameter.replace('_', '-')}"


class MethodCommand(Command):
    """A command with the parameters of methods as options, all None where they are not given.

    A family only has to be in FAMILIES: its dataclass fields carry default, help and choices. Families may
    share a name; the help says who knows it, unless all do. Only the family that `--method` names is looked
    at, unless there are options that it does not know, or help is wanted.

    `--help` shows the options in NEEDED alone, `--help METHOD` those of a method, `--help-all` all.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if any(word.startswith("-q") for word in args):
            from riata.cli.mistakes import refuse_quadratic

            refuse_quadratic(args)
        ctx.meta[_LOOKED_AT] = self._families_for(ctx, args)
        self._help(ctx, args)
        return super().parse_args(ctx, self._pairs_apart(ctx, args))

    def _help(self, ctx: click.Context, args: list[str]) -> None:
        """Show the help, if it is asked for in one of the ways that click does not know."""
        for word, following in zip(args, [*args[1:], ""], strict=True):
            flag, _, method = word.partition("=")
            if word == "--help-all":
                ctx.meta[_HELP] = "all"
            elif flag in ctx.help_option_names and (method or following) in FAMILIES:
                ctx.meta[_HELP] = method or following
                ctx.meta[_LOOKED_AT] = [method or following]
            else:
                continue
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    def shows(self, ctx: click.Context, parameter: click.Parameter) -> bool:
        wanted = ctx.meta.get(_HELP)
        if wanted is None:
            return parameter.name in NEEDED
        return wanted == "all" or getattr(parameter, "section", "") == "Method"

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.meta.get(_HELP) is None:
            formatter.write_paragraph()
            formatter.write_text(
                "These are the options most people need. All of them: --help-all. Those of one method: "
                f"--help METHOD, where METHOD is {', '.join(METHODS)}."
            )

    def _pairs_apart(self, ctx: click.Context, args: list[str]) -> list[str]:
        """LOW,HIGH as LOW HIGH, where an option takes two numbers: lists have commas everywhere."""
        pairs = {flag for p in self.get_params(ctx) if p.nargs == 2 for flag in p.opts}
        apart: list[str] = []
        for word in args:
            flag, sign, value = word.partition("=")
            if apart[-2:-1] == ["--bounds"] and not {",", ":"} & set(apart[-1]):
                apart[-1] += f",{word}"
            elif flag in pairs and sign:
                apart += [flag, *value.split(",")]
            elif apart and apart[-1] in pairs and word.count(",") == 1:
                apart += word.split(",")
            else:
                apart.append(word)
        return apart

    def _families_for(self, ctx: click.Context, args: list[str]) -> list[str]:
        method = family_of(_value_of("--method", args), _value_of("--loss", args))
        if method not in FAMILIES:
            return list(FAMILIES)
        known = {flag_name(name) for name in _parameters(FAMILIES[method])}
        known |= {flag for p in super().get_params(ctx) for flag in [*p.opts, *p.secondary_opts]}
        known -= set(ctx.help_option_names)
        flags = {word.partition("=")[0] for word in args if word.startswith("-")}
        return [method] if all(flag in known for flag in flags) else list(FAMILIES)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        families = ctx.meta.get(_LOOKED_AT, list(FAMILIES))
        return [*super().get_params(ctx), *method_options(tuple(families))]


DEFAULT_METHOD = "auto"
_REGRESSION = "-regression"
METHODS = [name for name in FAMILIES if not name.endswith(_REGRESSION)]
"""What --method takes: with --loss squared, some of these stand for a family of their own."""
_LOOKED_AT = "riata.families"
_HELP = "riata.help"


def family_of(method: str | None, loss: str | None) -> str:
    """The family of learners that a method and a loss stand for: auto where none is named.

    >>> family_of(None, None), family_of(None, "squared"), family_of("ftrl", "squared")
    ('auto', 'auto-regression', 'ftrl')
    """
    method = method or DEFAULT_METHOD
    regression = f"{method}{_REGRESSION}"
    return regression if loss == "squared" and regression in FAMILIES else method


def _value_of(flag: str, args: Sequence[str]) -> str | None:
    """What an option was given, before anything is parsed; the last counts."""
    value = None
    for word, following in zip(args, [*args[1:], ""], strict=True):
        if word == flag:
            value = following
        elif word.startswith(f"{flag}="):
            value = word.removeprefix(f"{flag}=")
    return value


@cache  # click asks three times a command
def method_options(families: tuple[str, ...]) -> list[Option]:
    """The parameters of these families as options."""
    owners: dict[str, list[tuple[str, Field[Any]]]] = {}
    for family in families:
        for field in _parameters(FAMILIES[family]).values():
            owners.setdefault(field.name, []).append((family, field))
    return [Option([flag_name(n), n], **_click_kind(n, owned)) for n, owned in owners.items()]


def _parameters(learner: type[Learner]) -> dict[str, Field[Any]]:
    declared: tuple[Field[Any], ...] = fields(learner)  # type: ignore[arg-type]
    return {f.name: f for f in declared if f.init and f.name not in NOT_OPTIONS}


def _click_kind(name: str, owned: list[tuple[str, Field[Any]]]) -> dict[str, Any]:
    kind: dict[str, Any] = {"default": None, "section": "Method"}
    families = [family for family, _ in owned]
    known_by = "" if len(families) == len(FAMILIES) else f"{', '.join(families)}: "
    help_text = owned[0][1].metadata.get("help", "")
    if is_on(name):
        help_text = f"do not {help_text.partition(',')[0]}"
    kind["help"] = f"{known_by}{help_text[:1].upper()}{help_text[1:]}.{_default_text(owned)}"
    choices = dict.fromkeys(c for _, f in owned for c in f.metadata.get("choices", ()))
    type_ = _type_of(FAMILIES[families[0]], name)
    if type_ is bool:
        return kind | {"is_flag": True, "flag_value": not owned[0][1].default}
    if choices:
        return kind | {"type": click.Choice(list(choices))}
    metavar = "LOW HIGH" if isinstance(type_, tuple) else getattr(type_, "metavar", "NUMBER")
    return kind | {"type": type_, "metavar": "TEXT" if type_ is str else metavar}


def _default_text(owned: list[tuple[str, Field[Any]]]) -> str:
    shown = next((f.metadata["shown"] for _, f in owned if f.metadata.get("shown")), None)
    if shown is not None:
        return f"  [default: {shown}]"
    defaults = {family: f.default for family, f in owned if f.default is not MISSING}
    values = {v for v in defaults.values() if v is not None and not isinstance(v, bool)}
    if not values:
        return ""
    if len(values) == 1:
        return f"  [default: {values.pop()}]"
    return f"  [default: {', '.join(f'{v} ({k})' for k, v in defaults.items())}]"


class NumbersOrWord(click.ParamType):  # type: ignore[type-arg]
    """A number, numbers with commas between them, or a word that the learner knows.

    >>> kind = NumbersOrWord()
    >>> kind.convert("2", None, None), kind.convert("3,1", None, None), kind.convert("path", None, None)
    (2.0, (3.0, 1.0), 'path')
    """

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str | tuple[float, ...]:
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        try:
            numbers = tuple(float(word) for word in value.split(","))
        except ValueError:
            return value
        return numbers[0] if len(numbers) == 1 else numbers


_type_hints = cache(get_type_hints)


def _type_of(learner: type[Learner], name: str) -> Any:
    """The type of a parameter: float, int, bool, str, or a tuple of two floats."""
    if name == "bounds":
        from riata.cli.kinds import Intervals

        return Intervals()
    hint = _type_hints(learner)[name]
    known = [t for t in (get_args(hint) or (hint,)) if t is not type(None)]
    if hint in (float, int, bool, str):
        return hint
    if float in known and str in known:
        return NumbersOrWord()
    if known and known[0] in (float, int, bool, str):
        return known[0]
    return (float, float)


def pick_parameters(
    ctx: click.Context, method: str, given: Mapping[str, Any], check: bool = True
) -> dict[str, Any]:
    """The parameters given on the command line; one that the method lacks is wrong usage."""
    families = ctx.meta.get(_LOOKED_AT, list(FAMILIES))
    names = {name for family in families for name in _parameters(FAMILIES[family])}
    chosen = {name: given[name] for name in given if name in names and given[name] is not None}
    called = method.removesuffix(_REGRESSION)
    if called != method and chosen.get("loss") == "squared":
        del chosen["loss"]  # the only one there is
    own = _parameters(FAMILIES[method])
    for name in chosen if check else ():
        if name not in own:
            owners = [f for f in METHODS if name in _parameters(FAMILIES[f])]
            whose = f"{flag_name(name)} belongs to --method {' or '.join(owners)}"
            if given["method"] is None:
                raise click.UsageError(
                    f"{whose}: name the method, or leave it out (without --method it is {called}, "
                    "which needs no tuning)"
                )
            raise click.UsageError(
                f"{whose}, not to {called}; {called} takes {', '.join(map(flag_name, own))}"
            )
    return chosen


def parse_holdout(ctx: click.Context, parameter: click.Parameter, value: str) -> float | str:
    """A fraction, or the name of a file."""
    try:
        fraction = float(value)
    except ValueError:
        return value
    if not 0 <= fraction < 1:
        raise click.BadParameter(f"{value} is not a fraction: at least 0 and below 1")
    return fraction


def parse_classes(
    ctx: click.Context, parameter: click.Parameter, value: str | None
) -> str | list[str] | list[float] | None:
    """Labels with commas between them, or `scan`."""
    if value is None or value == "scan":
        return value
    labels = as_numbers([word.strip() for word in value.split(",")])
    if "" in labels or len(set(labels)) < 2:
        raise click.BadParameter(
            f"{value!r} is neither scan nor a list of two or more labels, such as -1,1 or ham,spam"
        )
    return labels


def as_numbers(words: list[str]) -> list[str] | list[float]:
    """Labels that were typed: numbers, if all of them are.

    >>> as_numbers(["-1", "1"]), as_numbers(["1", "one"])
    ([-1.0, 1.0], ['1', 'one'])
    """
    try:
        return [float(word) for word in words]
    except ValueError:
        return words


def parse_class_weight(
    ctx: click.Context, parameter: click.Parameter, value: str | None
) -> str | dict[Any, float] | None:
    """LABEL=WEIGHT with commas between them, or `balanced`."""
    if value is None or value == "balanced":
        return value
    try:
        pairs = [word.rpartition("=") for word in value.split(",")]
        weights = [float(weight) for _, _, weight in pairs]
    except ValueError:
        pairs = []
    labels = as_numbers([label.strip() for label, _, _ in pairs])
    if not labels or "" in labels:
        raise click.BadParameter(
            f"{value!r} is neither balanced nor a list such as 0=1,1=20 or ham=1,spam=20"
        )
    return dict(zip(labels, weights, strict=True))
