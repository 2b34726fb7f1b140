"""riata completion: what a shell offers when Tab is pressed."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
)

from riata.cli.options import Command

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_RIATA_COMPLETE"

HELP = """Print what makes SHELL (bash, zsh or fish) complete commands, options, methods and files.

\b
  bash   riata completion bash >> ~/.bashrc
  zsh    riata completion zsh >> ~/.zshrc
  fish   riata completion fish > ~/.config/fish/completions/riata.fish

Then open a new shell."""


class _WithFiles(ShellComplete):
    """Where there is nothing else to offer, names of files."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        found = super().get_completions(args, incomplete)
        if found or incomplete.startswith("-") or not args:
            return found
        return [CompletionItem(incomplete, type="file")]


class _Bash(_WithFiles, BashComplete):
    """Bash. Which version it has is looked at by nobody: older ones complete, too."""

    @staticmethod
    def _check_version() -> None: ...


class _Zsh(_WithFiles, ZshComplete):
    pass


class _Fish(_WithFiles, FishComplete):
    pass


for _shell, _class in zip(SHELLS, (_Bash, _Zsh, _Fish), strict=True):
    add_completion_class(_class, _shell)


@click.command("completion", cls=Command, help=HELP)
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    root: Any = ctx.find_root().command
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(root, {}, "riata", VARIABLE).source())
    return 0
