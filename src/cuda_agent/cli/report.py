"""Make pages of what runs left: episodes, rewards, benchmarks, task synthesis, training, the judge.

RUN is a run's folder, a folder of results such as docs/results, or a file of records; several are shown
together. Each page is one HTML file that needs no network, with its numbers as JSON beside it.

Exit status: 0 made; 2 wrong use: there is nothing to show; 3 the disk refuses; 130 the live view was stopped.
"""

import webbrowser
from pathlib import Path

import tyro

from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.config import Config
from cuda_agent.errors import UserError
from cuda_agent.report.build import build_site
from cuda_agent.report.live import LOOPBACK, LiveServer, LiveSite
from cuda_agent.report.load import load_material


class ReportConfig(Config):
    """What to show, and how."""

    runs: tyro.conf.Positional[tuple[Path, ...]]
    """Folders of runs, folders of results, or files of records."""
    out: Path = Path("report")
    """The folder of the pages; pages of an earlier report in it are replaced."""
    open: bool = False
    """Open the first page in the browser."""
    serve: bool = False
    """Serve the pages to this machine, and make them anew while the runs go on; nothing is written."""
    port: int = 8322
    """Where they are served; 0 takes a free port."""


def run_report(config: ReportConfig) -> int:
    """Write the pages, or serve them until stopped."""
    if not config.runs:
        raise UserError("name at least one run: cuda-agent report runs/RUN")
    if config.serve:
        return _serve(config)
    if (config.out / "index.html").exists() and not (config.out / "index.json").exists():
        raise UserError(f"{config.out} holds pages of something else; choose another folder with --out")
    files = build_site(load_material(config.runs), config.out)
    pages = [file for file in files if file.suffix == ".html"]
    size_kb = sum(file.stat().st_size for file in pages) / 1e3
    print(f"{len(pages)} pages, {size_kb:.0f} kB: {config.out / 'index.html'}")
    if config.open:
        webbrowser.open((config.out / "index.html").absolute().as_uri())
    return ExitCode.DONE


def _serve(config: ReportConfig) -> int:
    with LiveServer(LiveSite(config.runs), port=config.port) as server:
        address = f"http://{LOOPBACK}:{server.server_port}/"
        print(f"live view: {address} (Ctrl-C stops it)", flush=True)
        if config.open:
            webbrowser.open(address)
        server.serve_forever()
    return ExitCode.DONE
