"""Numbers, names and tables as people read them: on a terminal, in a file, in a notebook."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: float) -> str:
    """
    >>> count(1234567)
    '1,234,567'
    """
    return f"{number:,.0f}"


def size(n_bytes: float) -> str:
    """
    >>> size(999), size(1_530_000), size(2.5e9)
    ('999 B', '1.5 MB', '2.5 GB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.1f} {unit}"
    return f"{n_bytes:.0f} B"


def part_of(done: float, n_bytes: float) -> str:
    """
    >>> part_of(51.4e6, 156.2e6), part_of(0, 20), part_of(1e6, 2e9)
    ('51/156 MB', '0/20 B', '0.0/2.0 GB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            digits = 1 if n_bytes < 10 * scale else 0
            return f"{done / scale:.{digits}f}/{n_bytes / scale:.{digits}f} {unit}"
    return f"{done:.0f}/{n_bytes:.0f} B"


def short(value: float) -> str:
    """
    >>> short(950), short(12_345), short(1_858_412)
    ('950', '12k', '1.9M')
    """
    if value >= 1e6:
        return f"{value / 1e6:.1f}M"
    return f"{value / 1e3:.0f}k" if value >= 1e4 else f"{value:.0f}"


def number(value: float | None, digits: int = 5) -> str:
    """
    >>> number(0.6931471), number(None)
    ('0.69315', '-')
    """
    return "-" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # no -0.00000


def first_apart(loss: float | None, after_first: float | None) -> list[str]:
    """What to say beside a mean loss that is more than half the first example's; `after_first` is without it.

    >>> first_apart(1234.5, 0.25), first_apart(0.3, 0.25)
    (['0.25000 without the first example, before which nothing was known of the labels'], [])
    """
    if loss is None or after_first is None or loss <= 2 * after_first:
        return []
    return [
        f"{number(after_first)} without the first example, before which nothing was known of the labels"
    ]


def percent(share: float | None, digits: int = 1) -> str:
    """
    >>> percent(0.1234)
    '12.3 %'
    """
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def plural(n: int, noun: str) -> str:
    """
    >>> plural(1, "pass"), plural(2, "pass"), plural(3, "example")
    ('1 pass', '2 passes', '3 examples')
    """
    if n == 1:
        return f"1 {noun}"
    return f"{count(n)} {noun}{'es' if noun.endswith('s') else 's'}"


def printable(name: str, longest: int = 80) -> str:
    """A name that can be shown on a terminal, whatever is in it.

    >>> printable("a\\x1b[2Jb"), printable("x" * 99, 8)
    ('a\\\\x1b[2Jb', 'xxxxx...')
    """
    cut = name[: longest + 1]
    shown = cut if cut.isprintable() else "".join(map(_shown, cut))
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


def _shown(c: str) -> str:
    if c.isprintable():
        return c
    return c.encode("unicode_escape", "surrogatepass").decode()


def html_text(name: str, longest: int = 80) -> str:
    """The same for a page: text, whatever is in it.

    >>> html_text("<script>alert(1)</script>", 200)
    '&lt;script&gt;alert(1)&lt;/script&gt;'
    """
    from html import escape  # few commands write pages

    return escape(printable(name, longest))


def signed(value: float, digits: int = 4) -> str:
    """
    >>> signed(0.25), signed(-3.0), signed(0.0)
    ('+0.2500', '-3.0000', '+0.0000')
    """
    return f"{value:+.{digits}f}"


def rows(pairs: Sequence[tuple[str, str]]) -> str:
    """Lines of a label and a text, aligned; an empty label continues the one above.

    >>> print(rows([("loss", "0.5"), ("holdout", "0.6")]))
    loss      0.5
    holdout   0.6
    """
    return "\n".join(f"{label:<10}{text}".rstrip() for label, text in pairs)
