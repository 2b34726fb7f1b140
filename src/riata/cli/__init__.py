"""The command line. One file a command; each is imported only when it is called."""

from __future__ import annotations

import atexit
import ctypes
import importlib
import os
import sys
import warnings
from contextlib import suppress
from typing import Any

import click

from riata import __version__
from riata.errors import RiataError

COMMANDS = {
    "train": "Learn a sparse linear model from data.",
    "sweep": "Train many settings in one read, and keep the best.",
    "predict": "Predict with a model.",
    "evaluate": "Measure a model on labelled data.",
    "explain": "Say what each feature adds to each score.",
    "diff": "Say what has changed from one model to another.",
    "inspect": "Show how a model was made and its strongest features.",
    "report": "Write a page about a model, with a form that scores.",
    "compact": "Make one small linear model of a model of auto, to predict with.",
    "verify": "Check that a model is whole; prove a sketch on its data.",
    "shards": "List the shards that data is cut into.",
    "merge": "Put models together, or what shards of a training gave.",
    "convert": "Write data in another format.",
    "completion": "Let the shell complete commands and options.",
    "demo": "See it work: make a click stream, learn from it, look at the result.",
}

INTERRUPTED = 130
TERMINATED = 143

_THREADS_OF_ALGEBRA = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
_M_MMAP_THRESHOLD = -3
_LARGE = 1 << 18


class LazyGroup(click.Group):
    """Knows its commands by name; `riata --help` imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"riata.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from riata.cli.mistakes import similar

            ctx.fail(f"No such command {args[0]!r}; {similar(args[0], list(COMMANDS))}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            # Who read our output has had enough. Python would complain at exit: give it a sink.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="riata %(version)s")
def group() -> None:
    """Riata learns sparse linear models from streams: text, clicks, mail, anything with millions of
    features of which each example shows a few.

    New here? Type: riata demo
    """


def main() -> None:
    """Run and exit: 0 done, 1 a mistake in data or files, 2 wrong usage, 130 Ctrl-C, 143 SIGTERM."""
    return_large_pieces()
    start_no_threads()
    warnings.showwarning = _say_warning
    code = run(sys.argv[1:])
    # All files are closed by now. What is left, to take every module apart, would take as long as to learn from
    # some ten thousand examples.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def complain(error: Exception, message: str) -> int:
    """What went wrong, then what was noted on the way."""
    click.echo("\n".join([f"riata: {message}", *getattr(error, "__notes__", [])]), err=True)
    return 1


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"riata: warning: {message}", err=True)


def run(arguments: list[str]) -> int:
    """The command line as a function: prints, and returns the exit code."""
    if "_RIATA_COMPLETE" in os.environ:
        importlib.import_module("riata.cli.completion")  # knows how to complete names of files
    try:
        result = group.main(arguments, prog_name="riata", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("riata: interrupted", err=True)
        return INTERRUPTED
    except RiataError as error:
        return complain(error, str(error))
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        return complain(error, f"{where}{error.strerror or error}")
    except MemoryError as error:
        about = str(error) if str(error) != "std::bad_alloc" else ""
        return complain(error, f"out of memory: {about}" if about else "out of memory")
    return result if isinstance(result, int) else 0


def start_no_threads() -> None:
    """Unless the user has said how many: keep NumPy's linear algebra from starting threads while it is imported.

    Commands multiply small matrices at most. To start and end a thread that waits by spinning took a third of the time
    of that import, and of the processors that readers and learners are to have.
    """
    if not any(name in os.environ for name in _THREADS_OF_ALGEBRA):
        os.environ[_THREADS_OF_ALGEBRA[0]] = "1"


def return_large_pieces() -> None:
    """Let the C library give large pieces of memory back to the system as soon as they are free.

    By default glibc stops doing so after the first one, and the arrays that a stream makes and drops,
    a few megabytes at a time in several threads, then leave holes between them: one pass over 250 MB
    of columns peaked at 350 MB, not at 140. What is used again at once, the core keeps itself.
    """
    if sys.platform.startswith("linux"):
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # absent where it is not glibc
        if mallopt is not None:
            mallopt(_M_MMAP_THRESHOLD, _LARGE)
