"""What waits until it is used does what it would have done at once."""

import os
import subprocess
import sys
from pathlib import Path

DEFINED = """
import dataclasses, sys, typing
if sys.argv[1] == "put off":
    from qdialect.cli.start import put_off_methods_of_dataclasses, put_off_texts_of_named_tuples
    put_off_methods_of_dataclasses()
    put_off_texts_of_named_tuples()
compiled = 0
def counting(*arguments):
    global compiled
    compiled += arguments[1] == "<dataclass>"
    return compile(*arguments)
if sys.argv[1] == "put off":
    import qdialect.cli.start as start
    start.compile = counting

@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: float = 2.0
    rest: list = dataclasses.field(default_factory=list, compare=False)

@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Slotted(Point):
    z: int = 3

@dataclasses.dataclass
class Plain:
    "Has a text of its own."
    name: str
    def __post_init__(self):
        self.name += "!"

class Heir(Plain):
    pass

@dataclasses.dataclass
class Odd:
    x: int
    y: dataclasses.InitVar[int] = 1
    z: int = dataclasses.field(default=2, kw_only=True)
    w: int = dataclasses.field(default=3, init=False)
    def __post_init__(self, y):
        self.x += y

class Pair(typing.NamedTuple):
    one: "int"
    other: "list[Odd]" = []
    last: "str" = "z"

class Alone(typing.NamedTuple):
    one: int

class Nothing(typing.NamedTuple):
    pass

@dataclasses.dataclass(order=True)
class Empty:
    pass

assert not compiled, compiled
print(typing.get_type_hints(Pair), Pair._field_defaults, Pair.__new__.__defaults__, Pair.__new__.__name__)
for _ in range(150):  # the last times by the compiled methods
    point, slotted = Point(1), Slotted(1, z=4)
    print(point, slotted, point == Point(1), point == slotted)
    print(point == Point(1, 3.0), hash(point) == hash(Point(1)))
    print(slotted < Slotted(1, z=5), Heir("a"), Heir("a") == Heir("a"), Heir("a") == Plain("a"), point.rest)
    changes = (lambda: setattr(point, "x", 2), lambda: delattr(point, "y"), lambda: Point(), lambda: hash(Plain("b")))
    changes += (lambda: Point(1, x=2), lambda: Point(1, 2, [], 3), lambda: Point(1, q=2), lambda: Odd(1, 2, 3))
    print(Point(y=1.0, x=2), Point(1, rest=[2]).rest, Odd(1), Odd(1, 5, z=4), Plain(name="n"))
    print(Empty() == Empty(), Empty() < Empty(), Empty() <= Empty(), Point(float("nan")) == Point(1), hash(Empty) != 0)
    print(Pair(1), Pair(1, 2, 3), Pair(1, last=2), Pair(last=1, one=2), Pair._make("abc"), Pair(1)._replace(one=3))
    print(Alone(1), Alone(one=2), Nothing(), isinstance(Alone(1), Alone))
    changes += (lambda: Pair(), lambda: Pair(1, 2, 3, 4), lambda: Pair(1, one=2), lambda: Pair(1, q=2))
    changes += (lambda: Alone(), lambda: Nothing(1), lambda: Point(1) < Point(2), lambda: setattr(slotted, "z", 1))
    for change in changes:
        try:
            change()
        except Exception as error:
            print(type(error).__name__, error)
print(dataclasses.replace(point, x=7), Point.__init__.__name__, [f.name for f in dataclasses.fields(Slotted)])
if sys.argv[1] == "put off":
    assert compiled, "nothing was put off"
    for method in (Alone.__new__, Point.__eq__, Point.__setattr__, Point.__delattr__):
        assert method.__code__.co_filename == start.__file__, method
"""


def test_methods_that_are_put_off_do_the_same():
    said = [
        subprocess.run([sys.executable, "-c", DEFINED, how], capture_output=True, text=True, check=False)
        for how in ("at once", "put off")
    ]
    assert [one.stderr for one in said] == ["", ""]
    assert said[0].stdout == said[1].stdout != ""


WAITING = """
import sys
from pathlib import Path
import qdialect.cli.later as later
later.RARELY_READ = ("package.seldom",)
later.put_off_modules()
import package.seldom, package.always
print(package.seldom.__name__, sys.modules["package.seldom"] is package.seldom)
print(package.seldom.value, package.seldom.value)
try:
    package.seldom.other
except AttributeError as error:
    print(error)
from package.seldom import value
"""


def test_modules_that_are_put_off_are_executed_when_a_name_is_read(tmp_path: Path):
    (tmp_path / "package").mkdir()
    for name in ("__init__", "always", "seldom"):
        (tmp_path / "package" / f"{name}.py").write_text(f"print('executed: {name}')\nvalue = 1\n")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
    }
    said = subprocess.run(
        [sys.executable, "-c", WAITING], capture_output=True, text=True, check=False, env=environment
    )
    assert said.stderr == ""
    assert said.stdout.splitlines() == [
        "executed: __init__",
        "executed: always",
        "package.seldom True",
        "executed: seldom",
        "1 1",
        "module 'package.seldom' has no attribute 'other'",
    ]


READS = """
import os, sys
known, parent, ends = {*sys.modules}, os.getpid(), os._exit
def end(status):
    if os.getpid() == parent:
        import qdialect.cli.later as later
        waiting = {name for name, module in sys.modules.items() if type(module) is later._Waiting}
        print({*later.RARELY_READ} & sys.modules.keys() - known - waiting, flush=True)
    ends(status)
os._exit = end
import qdialect.cli
sys.argv = ["qdialect", "compile", *sys.argv[1:], "--quiet"]
qdialect.cli.main()
"""


def test_a_compile_reads_none_of_the_modules_that_are_put_off(tmp_path: Path):
    model = Path(__file__).parents[2] / "examples" / "digits_qdq.onnx"
    command = [sys.executable, "-c", READS, model, "-o", tmp_path / "compiled.onnx"]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout == "set()\n"


ENDS = """
import gc, os, sys
ends = os._exit
def end(status):
    print(gc.isenabled(), flush=True)
    ends(status)
os._exit = end
import qdialect.cli
sys.argv = ["qdialect", "targets"]
qdialect.cli.main()
"""


def test_a_command_ends_without_traversing_its_objects():
    said = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1] == "False"
