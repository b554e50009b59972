"""tests/lab/run: runs scenarios one after the other, each in guests of its own.

  run [--list] [--core | --all] [--keep] [--repeat N] [--limit SECONDS] [SCENARIO…]

--core     only those that belong to CI's run
--keep     leaves the guests of the last scenario up, and prints how to log in and how to end them
--limit    a scenario whose budget no longer fits into these seconds is skipped, and said so
A scenario whose guest dies of emulation itself is started over, twice at most, and that is printed."""
import argparse
import importlib.util
import os
import shutil
import signal
import sys
import time
import traceback

import host
import image
import lab

FOLDER = os.path.join(lab.HERE, "scenarios")
EVIDENCE = os.path.join(lab.TREE, "build", "lab")
TRIES = 3


def load(name):
    path = os.path.join(FOLDER, name + ".py")
    if not os.path.exists(path):
        raise SystemExit(f"lab: no scenario '{name}'; --list prints all")
    spec = importlib.util.spec_from_file_location("scenario_" + name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names():
    return sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".py"))


def show():
    for name in names():
        module = load(name)
        summary = (module.__doc__ or "").strip().splitlines()[0]
        print(f"{name:26} {'core' if module.CORE else '    '} {module.BUDGET_SECONDS:4} s  {summary}")


def over_budget(number, frame):
    raise lab.LabError("over its budget")


class Outcome:
    def __init__(self, word, seconds, text="", notes=()):
        self.word = word
        self.seconds = seconds
        self.text = text
        self.notes = notes


def attempt(name, module, keep):
    """One try of a scenario: (outcome, did emulation spoil it)."""
    begin = time.monotonic()
    run = lab.Lab(keep=keep)
    word, text, sick = "passed", "", None
    signal.signal(signal.SIGALRM, over_budget)
    signal.alarm(module.BUDGET_SECONDS)
    try:
        module.run(run)
    except lab.Skipped as why:
        word, text = "skipped", str(why)
    except (Exception, AssertionError) as error:
        signal.alarm(0)
        word, text = "failed", traceback.format_exc()
        sick = str(error) if isinstance(error, lab.GuestSick) else run.sick()
        folder = os.path.join(EVIDENCE, name)
        shutil.rmtree(folder, ignore_errors=True)
        run.collect(folder)
        text += f"evidence in {os.path.relpath(folder, lab.TREE)}\n"
    except BaseException:
        run.close()
        raise
    finally:
        signal.alarm(0)
    outcome = Outcome(word, time.monotonic() - begin, text, run.notes)
    if keep and not sick:
        lab.tell(run)
    else:
        run.close()
    return outcome, sick


def run_one(name, keep):
    module = load(name)
    for number in range(1, TRIES + 1):
        outcome, sick = attempt(name, module, keep)
        if not (outcome.word == "failed" and sick and number < TRIES):
            return outcome
        print(f"again    {name}: {sick}")
    return outcome


def arguments():
    parser = argparse.ArgumentParser(prog="tests/lab/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--core", action="store_true")
    parser.add_argument("--all", action="store_true", help="every scenario, as without any name")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--limit", type=float)
    parser.add_argument("scenario", nargs="*")
    return parser.parse_args()


def main():
    wanted = arguments()
    lab.end_on_signals()
    if wanted.list:
        return show()
    begin = time.monotonic()
    host.prepare()
    chosen = wanted.scenario or [name for name in names() if not wanted.core or load(name).CORE]
    modules = [load(name) for name in chosen]
    base = image.root()
    for role in sorted({role for module in modules for role in getattr(module, "GUESTS", ("store", "compute"))}):
        lab.saved(role, base, any(getattr(module, "PACKAGE", True) for module in modules))
    count = {"passed": 0, "failed": 0, "skipped": 0}
    plan = [name for _ in range(wanted.repeat) for name in chosen]
    for place, name in enumerate(plan):
        left = wanted.limit - (time.monotonic() - begin) if wanted.limit else float("inf")
        if load(name).BUDGET_SECONDS > left:
            outcome = Outcome("skipped", 0, f"its budget does not fit into the {left:.0f} s left")
        else:
            outcome = run_one(name, wanted.keep and place == len(plan) - 1)
        count[outcome.word] += 1
        print(f"{outcome.word:8} {name} {outcome.seconds:.0f} s" +
              (f" ({outcome.text})" if outcome.word == "skipped" else ""))
        for note in outcome.notes:
            print(f"         {note}")
        if outcome.word == "failed":
            print(outcome.text)
    print(", ".join(f"{number} {word}" for word, number in count.items()))
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("lab: stopped; its guests are ended")
