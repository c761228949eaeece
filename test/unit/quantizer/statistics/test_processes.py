"""Worker processes: new interpreters, which end with their caller, and of which it sees results and errors only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from qdialect.errors import UserError
from qdialect.quantizer.statistics.processes import WorkerDied, Workers
from qdialect.quantizer.statistics.profile import load_profile

PROGRAM = """
import os, sys, threading, time
import numpy as np, onnx
from onnx import parser
print("started", flush=True)
MODEL = parser.parse_model('''<ir_version: 8, opset_import: ["" : 17]>
g (float[n,8] x) => (float[n,4] y) <float[8,4] w = {WEIGHT}> { y = MatMul(x, w) }''')
rng = np.random.default_rng(0)

def rows(count, seconds=0.0):
    for _ in range(count):
        time.sleep(seconds)
        yield {"x": rng.normal(size=(32, 8)).astype(np.float32)}

import qdialect
import qdialect.quantizer.statistics.workers as workers
workers.PART_BYTES = 4096
workers.available_cores = lambda: 2
""".replace("WEIGHT", ", ".join(str(k % 7 - 3) for k in range(32)))
"""A script whose main module is not guarded."""
QUANTIZE = """
result = qdialect.quantize(MODEL, data=rows(40), workers=2)
print(len(qdialect.to_model(result.module).SerializeToString()))
"""
ENDLESS = "qdialect.quantize(MODEL, data=rows(100000, 0.01), workers=2)"


def script(lines: str, folder: Path, **more: str) -> subprocess.Popen[str]:
    """A process that runs `PROGRAM` and `lines`."""
    path = folder / "script.py"
    path.write_text(PROGRAM + lines)
    return subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=folder, env={**os.environ, **more}, start_new_session=True,
    )  # fmt: skip


def in_session(session: int) -> dict[int, str]:
    """The processes of a session, with their command lines."""
    found: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "stat").read_text().rsplit(")", 1)[1].split()
            if int(words[3]) == session and words[0] != "Z":
                found[int(path.name)] = (path / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
    return found


def workers_of(session: int) -> list[int]:
    return [one for one, words in in_session(session).items() if "processes import serve" in words]


def wait_for_workers(process: subprocess.Popen[str], count: int) -> None:
    end = time.monotonic() + 60
    while len(workers_of(process.pid)) != count:
        assert time.monotonic() < end, in_session(process.pid)
        time.sleep(0.1)


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the processes of Linux")


@pytest.mark.parametrize(
    "before",
    [
        "",
        "lock = threading.Lock()\nthreading.Thread(target=lambda: lock.acquire() and time.sleep(1)).start()\n",
        "def forked():\n    raise SystemExit('forked')\nos.register_at_fork(before=forked)\n",
        "import multiprocessing\nmultiprocessing.set_start_method('spawn')\n",
        "import multiprocessing\nmultiprocessing.set_start_method('forkserver')\n",
        "open('json.py', 'w').write('raise SystemExit(3)')\n",
        "os.environ['PYTHONPATH'] = '/none'\n",
        "os.environ['PYTHONSTARTUP'] = '/none'\n",
        "sys.stdin.close()\n",
        "import logging\nlogging.basicConfig(level=0, stream=sys.stdout)\n",
    ],
    ids=["plain", "thread", "fork", "spawn", "forkserver", "folder", "path", "startup", "stdin", "logging"],
)
def test_a_script_is_run_once_and_not_forked(before: str, tmp_path: Path):
    process = script(before + QUANTIZE, tmp_path)
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert printed.count("started") == 1
    assert int(printed.splitlines()[-1]) > 100
    assert "Traceback" not in errors


@linux
@pytest.mark.parametrize(
    ("before", "killed"),
    [
        ("", signal.SIGKILL),
        ("", signal.SIGTERM),
        ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n", signal.SIGINT),
        ("", signal.SIGABRT),
        # A child that another thread forks holds the pipes as well.
        ("threading.Timer(3, lambda: os.fork() or time.sleep(30) or os._exit(0)).start()\n", signal.SIGKILL),
        ("threading.Timer(2, lambda: os._exit(9)).start()\n", None),
    ],
    ids=["kill", "terminate", "interrupt", "abort", "forked", "exit"],
)
def test_no_worker_outlives_its_caller(before: str, killed: int | None, tmp_path: Path):
    process = script(before + ENDLESS, tmp_path, OMP_NUM_THREADS="1")
    try:
        wait_for_workers(process, 2)
        time.sleep(4 if "fork" in before else 0.5)
        if killed is not None:
            process.send_signal(killed)
        process.wait(60)
        wait_for_workers(process, 0)
    finally:
        for one in in_session(process.pid):
            os.kill(one, signal.SIGKILL)
        process.communicate()


@linux
def test_a_worker_that_is_killed_is_said_in_one_line(tmp_path: Path):
    process = script(ENDLESS, tmp_path)
    wait_for_workers(process, 2)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    errors = process.communicate(timeout=60)[1]
    assert "UserError: a worker process ended unexpectedly" in errors
    assert not in_session(process.pid)


def test_results_come_back_and_none_is_left():
    with Workers(2) as pool:
        futures = [pool.submit(abs, -k) for k in range(20)]
        assert [one.result() for one in futures] == [*range(20)]


@pytest.mark.parametrize(
    ("function", "task", "error"),
    [(int, "x", ValueError), (len, 3, TypeError), (os.listdir, "/none/there", FileNotFoundError)],
)
def test_what_a_function_raises_is_raised_here(function: object, task: object, error: type[Exception]):
    with Workers(1) as pool:
        with pytest.raises(error):
            pool.submit(function, task).result()  # pyright: ignore[reportArgumentType]
        assert pool.submit(abs, -1).result() == 1  # the worker goes on


@pytest.mark.parametrize("status", [0, 3])
def test_a_worker_that_ends_is_no_result(status: int):
    with Workers(1) as pool:
        with pytest.raises(WorkerDied):
            pool.submit(os._exit, status).result(60)


def test_a_worker_prints_to_no_result(capfd: pytest.CaptureFixture[str]):
    with Workers(1) as pool:
        assert pool.submit(print, "told").result() is None
        assert pool.submit(abs, -1).result() == 1
    assert not capfd.readouterr().out


def test_errors_of_the_user_are_raised_as_they_are():
    with Workers(1) as pool:
        with pytest.raises(UserError, match="cannot read profile"):
            pool.submit(load_profile, "/none").result()


def test_a_pool_ends_while_its_workers_compute():
    begun = time.monotonic()
    with Workers(2) as pool:
        futures = [pool.submit(time.sleep, 60) for _ in range(5)]
        time.sleep(0.5)
    assert time.monotonic() - begun < 30
    assert all(one.done() for one in futures)
    assert not [one for one in threading.enumerate() if "ThreadPoolExecutor" in one.name and one.is_alive()]
