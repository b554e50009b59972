"""The rules that a review would repeat, as checks. Each rule has an id; `tests/style/run` prints what breaks it.

A rule is a function of one file's path and text (or of the whole tree) that yields (line, message).
"""
import re

# Direction of use: what a folder may include. base ← model ← configurators; model ← host ← collectors; see docs/overview.md.
EDGES = {
    "agent/base": {"agent/base"},
    "agent/model": {"agent/base", "agent/model"},
    "configurators": {"agent/base", "agent/model", "configurators", "agent/engine/tables.hpp"},
    "agent/host": {"agent/base", "agent/model", "agent/host"},
    "collectors": {"agent/base", "agent/model", "agent/host", "collectors", "agent/engine/tables.hpp"},
    "agent/engine": {"agent/base", "agent/model", "agent/host", "agent/engine"},
    "agent/store": {"agent/base", "agent/model", "agent/engine/journal.hpp", "agent/store"},
    "agent/jobs": {"agent/base", "agent/model", "agent/engine/journal.hpp", "agent/jobs"},
    "agent/telemetry": {"agent/base", "agent/model", "agent/engine", "agent/telemetry"},
    "agent/api": {"agent/base", "agent/model", "agent/engine", "agent/store", "agent/telemetry", "agent/jobs", "agent/host", "agent/api"},
    "agent/uplink": {"agent/base", "agent/model", "agent/telemetry", "agent/api/client.hpp", "agent/uplink"},
    "agent/daemon": {"agent", "configurators/release.hpp", "configurators/revert.hpp"},
    "agent/cli": {"agent"},
}

# Third-party headers that are slow, that throw, or that would bring I/O into pure code: where each may be named.
HEADERS = {
    "yaml-cpp/": {"agent/model/spec_read.cpp", "agent/model/yaml_tree.cpp", "agent/cli/yaml_output.cpp"},
    "sqlite3.h": {"agent/store/"},
    "blkid/": {"agent/host/signature"},
    "libnvme.h": {"agent/host/"},
    "rdma/": {"agent/host/"},
    "CLI/": {"agent/cli/main.cpp"},
    "boost/asio": {"agent/api/", "agent/cli/", "agent/uplink/"},
    "boost/beast": {"agent/api/", "agent/cli/", "agent/uplink/"},
    "boost/json": {"agent/uplink/", "agent/model/", "agent/host/", "agent/engine/", "agent/store/", "agent/jobs/", "agent/api/", "agent/daemon/", "agent/cli/", "collectors/"},
    "tl/expected.hpp": {"agent/base/result.hpp"},
    "openssl/": {"agent/base/"},
    "prometheus/": {"agent/uplink/exposition.cpp"},
    "zlib.h": {"agent/uplink/compression.cpp"},
    "crypt.h": {"agent/uplink/passwords.cpp"},
    "snappy": {"agent/uplink/compression.cpp"},
}

BAD_TYPE = re.compile(r"^\s*(?:class|struct|enum class)\s+(\w*(?:Manager|Helper|Util|Utils|Impl|Handler))\b")
# Paths of one machine, and pages in capitals that the project does not have.
WORKPLACE = re.compile(r"/(?:work|Users)/|\b(?!README\b)[A-Z]{4,}\.md\b|\.librar(?:y|ies)\b")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
SLEEP = re.compile(r"sleep_for|\busleep\(|\bnanosleep\(|[^\w]sleep\(")
MAX_LINES = 400
MAX_FUNCTION_LINES = 50


def folder_of(path):
    for folder in sorted(EDGES, key=len, reverse=True):
        if path.startswith(folder + "/"):
            return folder
    return None


def include_edge(path, text):
    """include-edge: a folder includes only what stands before it in the line of data."""
    folder = folder_of(path)
    if folder is None:
        return
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#include "([^"]+)"', line)
        if found and not any(found[1] == edge or found[1].startswith(edge + "/") for edge in EDGES[folder]):
            yield number, f"'{folder}' may not include '{found[1]}'"


def third_party_header(path, text):
    """third-party-header: heavy or throwing libraries stay in the files that own them."""
    if folder_of(path) is None:
        return
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r"\s*#include <([^>]+)>", line)
        if not found:
            continue
        for header, places in HEADERS.items():
            if found[1].startswith(header) and not any(path.startswith(place) for place in places):
                yield number, f"<{found[1]}> belongs to {', '.join(sorted(places))}"


def statements(text):
    """Yields (line, statement) split at ; { } outside strings; good enough for the coroutine rules."""
    clean = re.sub(r"//[^\n]*", "", text)
    start = 1
    current = ""
    line = 1
    for character in clean:
        if not current.strip():
            start = line
        current += character
        if character == "\n":
            line += 1
        if character == ";":
            yield start, current
            current = ""


def coroutine(path, text):
    """coroutine: g++ 12 miscompiles braced lists, lambdas and ?: around co_await (double free or refusal)."""
    if not path.endswith((".cpp", ".hpp")) or "co_await" not in text:
        return
    for number, statement in statements(text):
        at = statement.find("co_await")
        if at < 0:
            continue
        expression = statement[at:]
        if "{" in expression:
            yield number, "a braced list or lambda body in a co_await expression; name the object first"
        if re.search(r"\[[^\]]*\]\s*\(", expression):
            yield number, "a lambda in a co_await expression; name it first"
        if "?" in statement and ":" in statement[statement.find("?"):]:
            yield number, "co_await beside ?:; use if"
    for found in re.finditer(r"awaitable<[^;{]*?>\s+\w+\(([^)]*)\)", text):
        if re.search(r"const\s+[\w:<>]+&|&&", found[1]):
            yield text.count("\n", 0, found.start()) + 1, "a coroutine parameter by reference; take it by value"


def file_length(path, text):
    """file-length: a file is a sitting."""
    count = text.count("\n")
    if path.endswith((".cpp", ".hpp", ".py", ".sh")) and count > MAX_LINES:
        yield count, f"{count} lines, at most {MAX_LINES}"


def function_length(path, text):
    """function-length: a function fits a screen."""
    if not path.endswith((".cpp", ".hpp")) or path.startswith("tests/"):
        return
    start = None
    for number, line in enumerate(text.splitlines(), 1):
        if start is None and re.match(r"^[A-Za-z_\[].*\)\s*(const)?\s*(noexcept)?\s*(override)?\s*\{$", line):
            start = number
        elif start is not None and line.startswith("}"):
            if number - start + 1 > MAX_FUNCTION_LINES:
                yield start, f"{number - start + 1} lines, at most {MAX_FUNCTION_LINES}"
            start = None


def head_comment(path, text):
    """head-comment: a file starts by saying what it owns."""
    if path.endswith((".cpp", ".hpp")) and not text.startswith("//"):
        yield 1, "no comment at the top"


def names(path, text):
    """type-name: names are nouns of the domain."""
    for number, line in enumerate(text.splitlines(), 1):
        found = BAD_TYPE.match(line)
        if found:
            yield number, f"'{found[1]}' says nothing of the domain"


def words(path, text):
    """words: nothing unfinished, nothing of the place where it was written."""
    if path.startswith("tests/style/"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if UNFINISHED.search(line):
            yield number, "unfinished work"
        if WORKPLACE.search(line):
            yield number, "speaks of the workplace"


def no_sleep(path, text):
    """no-sleep: tests wait for events, clocks are passed in."""
    if path.startswith("tests/") and path.endswith(".cpp"):
        for number, line in enumerate(text.splitlines(), 1):
            if SLEEP.search(line):
                yield number, "a sleep in a test"


def assertion(path, text):
    """assertion: every test case asserts."""
    if not re.match(r"tests/.*_test\.cpp$", path):
        return
    for found in re.finditer(r"^(?:TEST_CASE|SCENARIO)\(.*?^\}", text, re.S | re.M):
        if not re.search(r"REQUIRE|CHECK|FAIL\(|golden|expect_", found[0]):
            yield text.count("\n", 0, found.start()) + 1, "a test case without an assertion"


FILE_RULES = [include_edge, third_party_header, coroutine, file_length, function_length, head_comment, names, words,
              no_sleep, assertion]
