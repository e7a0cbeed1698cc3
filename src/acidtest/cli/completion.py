"""`acidtest completion`: the script that teaches a shell to complete acidtest's commands."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash:  acidtest completion bash >> ~/.bashrc
    zsh:   acidtest completion zsh  >> ~/.zshrc
    fish:  acidtest completion fish > ~/.config/fish/completions/acidtest.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "click knows every shell that the argument allows"
    click.echo(kind(context.find_root().command, {}, "acidtest", "_ACIDTEST_COMPLETE").source())
