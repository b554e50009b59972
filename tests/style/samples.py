"""A sample that breaks each rule and one that keeps it, so that no rule is a check that cannot fail."""
import rules

BREAKS = [
    (rules.include_edge, "agent/model/a.cpp", '#include "agent/host/reader.hpp"\n'),
    (rules.include_edge, "configurators/a.cpp", '#include "agent/host/reader.hpp"\n'),
    (rules.third_party_header, "agent/engine/a.cpp", "#include <sqlite3.h>\n"),
    (rules.coroutine, "agent/api/a.cpp", 'void f() { co_await g({"a", "b"}); }\n'),
    (rules.coroutine, "agent/api/a.cpp", "void f() { co_await g([x](int) { return x; }); }\n"),
    (rules.coroutine, "agent/api/a.cpp", "auto f() { auto y = a ? co_await g() : co_await h(); }\n"),
    (rules.coroutine, "agent/api/a.cpp", "awaitable<void> f(const std::string& x) { co_await g(x); }\n"),
    (rules.file_length, "agent/api/a.cpp", "//\n" * 401),
    (rules.function_length, "agent/api/a.cpp", "void f() {\n" + "  g();\n" * 60 + "}\n"),
    (rules.head_comment, "agent/api/a.cpp", "int x;\n"),
    (rules.names, "agent/api/a.cpp", "class DeviceManager {};\n"),
    (rules.words, "agent/api/a.cpp", "// TO" + "DO later\n"),
    (rules.no_sleep, "tests/unit/a_test.cpp", "std::this_thread::sleep_for(1s);\n"),
    (rules.assertion, "tests/unit/a_test.cpp", 'TEST_CASE("x") {\n  f();\n}\n'),
]
KEEPS = [
    (rules.include_edge, "agent/model/a.cpp", '#include "agent/base/text.hpp"\n'),
    (rules.third_party_header, "agent/store/a.cpp", "#include <sqlite3.h>\n"),
    (rules.coroutine, "agent/api/a.cpp", "awaitable<void> f(std::string x) { co_await g(x); }\n"),
    (rules.function_length, "agent/api/a.cpp", "void f() {\n  g();\n}\n"),
    (rules.names, "agent/api/a.cpp", "class Reader {};\n"),
    (rules.assertion, "tests/unit/a_test.cpp", 'TEST_CASE("x") {\n  REQUIRE(f());\n}\n'),
]


def problems():
    found = []
    for rule, path, text in BREAKS:
        if not list(rule(path, text)):
            found.append(f"sample for {rule.__name__} is not found: {text[:60]!r}")
    for rule, path, text in KEEPS:
        if list(rule(path, text)):
            found.append(f"sample for {rule.__name__} is blamed wrongly: {text[:60]!r}")
    return found


def count():
    return len(BREAKS) + len(KEEPS)
