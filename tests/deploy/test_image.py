"""The Dockerfile agrees with the code and with the other files."""

import json
import os
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

from tests.deploy.files import COMPOSE, DEFAULTS, IGNORED, IMAGE, ROOT, SCRAPED, WORKER, arguments, exec_form

EXACT_VERSION = re.compile(r"[\w./-]+:v?\d+\.\d+\.\d+(-[\w.-]+)?")


def test_images_are_pinned() -> None:
    """Images have a whole version, so that the same files start the same programs next year."""
    bases = [base.removesuffix(" AS build") for base in arguments("FROM")]
    for image in [*bases, *(service.image for service in COMPOSE.services.values())]:
        assert EXACT_VERSION.fullmatch(image), image
    assert len(set(bases)) == 1, "the environment is built by the Python that runs it"


def test_web_port_is_one() -> None:
    """Image, Compose, health check and Prometheus mean the port that the worker listens on."""
    (check,) = arguments("HEALTHCHECK")
    (exposed,) = arguments("EXPOSE")
    command = exec_form("CMD")
    assert WORKER.command == command == shlex.split(f"run --web-host 0.0.0.0 --web-port {DEFAULTS.web_port}")
    ports = [exposed, WORKER.ports[0].split(":")[2], *re.findall(r"127\.0\.0\.1:(\d+)/", check)]
    ports += [str(found.port) for found in SCRAPED.scrape_configs[0].dns_sd_configs]
    assert ports == [str(DEFAULTS.web_port)] * 4


def test_image_is_built_from_what_reaches_the_builder() -> None:
    """All that the Dockerfile copies exists and is let through by .dockerignore, and nothing else is."""
    sources = [
        source for copied in arguments("COPY") if not copied.startswith("--from=") for source in copied.split()[:-1]
    ]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    rules = (ROOT / IGNORED).read_text(encoding="utf-8").splitlines()
    let_through = {rule[1:] for rule in rules if rule.startswith("!")}
    assert rules[1] == "*"
    assert let_through == set(sources)
    assert not any(fnmatch(source, pattern) for pattern in rules[2:] for source in sources)


def test_image_runs_without_rights_and_hears_sigterm() -> None:
    """Hashes are required, a user without rights runs, no shell stands before the worker, no compiler is added."""
    last = IMAGE[max(index for index, instruction in enumerate(IMAGE) if instruction.name == "FROM") :]
    assert any("--require-hashes --requirement requirements.lock" in instruction.arguments for instruction in IMAGE)
    assert exec_form("ENTRYPOINT") == ["stream-dedup"]
    (user,) = [instruction.arguments for instruction in last if instruction.name == "USER"]
    assert int(user) > 0
    added, compiling = [instruction.arguments for instruction in last if instruction.name == "RUN"]
    assert added.split()[0] == "useradd"
    assert json.loads(compiling)[0] == "python"


def test_image_holds_compiled_loops(tmp_path: Path) -> None:
    """What is run in the build fills the folder in which the worker looks, and the user may write there."""
    (environment,) = [one for one in arguments("ENV") if "NUMBA_CACHE_DIR" in one]
    (folder,) = re.findall(r"NUMBA_CACHE_DIR=(\S+)", environment)
    assert [folder.startswith(f"{home}/") for home in re.findall(r"--home-dir (\S+)", " ".join(arguments("RUN")))] == [
        True
    ]
    _, *command = json.loads(arguments("RUN")[-1])
    subprocess.run([sys.executable, *command], check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)})
    sources = {
        path.stem for path in (ROOT / "stream_dedup").rglob("*.py") if "\n@compiled\n" in path.read_text("utf-8")
    }
    assert {path.name.split(".")[0] for path in tmp_path.rglob("*.nbi")} == sources
