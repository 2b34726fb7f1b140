"""`riata train --watch`: the report of the model so far, served on this machine while it is trained."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import click

from riata.cli.progress import Doubling, moment_of
from riata.record import Model, Progress
from riata.report import page_of
from riata.report.logs import Log

HOST = "127.0.0.1"
_EVERY = 1.0
"""Seconds between two looks at the model."""

_LIVE = """<script>(() => {
  "use strict";
  const note = document.createElement("p");
  note.setAttribute("role", "status");
  note.textContent = "Training goes on: this page follows, unless something is typed.";
  document.querySelector("header").append(note);
  const typed = () => [...document.querySelectorAll("input, textarea")].some((field) => field.value !== "");
  let known = null;
  setInterval(async () => {
    try {
      const state = await (await fetch("state")).json();
      if (known !== null && state.examples !== known && !typed()) location.reload();
      known ??= state.examples;
      if (typed()) note.textContent = `${state.examples.toLocaleString("en")} examples by now: reload for that model.`;
    } catch {
      note.textContent = "The training has ended: this page stays as it is.";
    }
  }, 3000);
})();</script>"""


class Watch:
    """A display that serves the page from a thread of its own."""

    def __init__(self, port: int, name: str) -> None:
        self.name = name
        self.moments: list[dict[str, Any]] = []
        self.model: Model | None = None
        self.examples = 0
        self.rows = Doubling()
        self._looked = 0.0
        watch = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                watch._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass  # the terminal is for the progress

        try:
            self.server = ThreadingHTTPServer((HOST, port), Handler)
        except OverflowError:
            raise click.UsageError(f"--watch {port}: ports go up to 65535") from None
        except OSError as error:
            raise click.ClickException(
                f"--watch: port {port} of {HOST} cannot be used: {error.strerror}; name another one, "
                "--watch PORT, or --watch 0 for any that is free"
            ) from None
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.1,), daemon=True)
        self.thread.start()

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.server.server_port}/"

    def show(self, progress: Progress) -> None:
        self.examples = progress.examples
        due = self.rows.due(progress)
        if progress.model is not None and (due or time.monotonic() - self._looked > _EVERY):
            self.model = progress.model()
            self._looked = time.monotonic()
        if due:
            self.moments = [*self.moments, moment_of(progress, self.rows.last)]
            self.rows.last = progress

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        # A page elsewhere that got its name to mean this machine must not read along.
        port = self.server.server_port
        if request.headers.get("Host") not in (f"{HOST}:{port}", f"localhost:{port}"):
            return _send(request, 403, "text/plain", b"not here\n")
        if request.path == "/state":
            state = {"examples": self.moments[-1]["examples"] if self.moments else 0}
            return _send(request, 200, "application/json", json.dumps(state).encode())
        if request.path != "/":
            return _send(request, 404, "text/plain", b"not here\n")
        return _send(request, 200, "text/html; charset=utf-8", self.page().encode())

    def page(self) -> str:
        """The report as of now."""
        log = Log(self.name, list(self.moments), record={})
        return page_of(self.model, log=log, name=f"{self.name}, so far", live=_LIVE).html


def _send(request: BaseHTTPRequestHandler, code: int, kind: str, content: bytes) -> None:
    try:
        request.send_response(code)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(content)))
        request.send_header("Cache-Control", "no-store")
        request.send_header("X-Content-Type-Options", "nosniff")
        request.end_headers()
        request.wfile.write(content)
    except OSError:  # the browser has gone
        pass
