// The readers: tree text, links within the root, errors as entries, and folders that must not be left.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "agent/host/reader.hpp"
#include "agent/host/tree.hpp"
#include "tests/collectors/host_fixture.hpp"
#include "tests/support/catch.hpp"

namespace nvstripe {
namespace {

namespace fs = std::filesystem;

class Folder {  // a captured folder under the temporary folder, removed at the end
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "nvstripe-reader-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((path_ / path).parent_path());
    std::ofstream(path_ / path, std::ios::binary) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    fs::create_directories((path_ / path).parent_path());
    fs::create_symlink(target, path_ / path);
  }
  [[nodiscard]] std::unique_ptr<host::Reader> reader() const {
    auto reader = host::captured_reader(path_.string());
    REQUIRE(reader.has_value());
    return std::move(*reader);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::unique_ptr<host::Reader> tree(const std::string& body) {
  auto reader = host::tree_reader("nvstripe-tree 1\n" + body);
  if (!reader) FAIL(reader.error().what);
  return std::move(*reader);
}

std::string parse_error(const std::string& body) {
  const auto reader = host::tree_reader("nvstripe-tree 1\n" + body);
  return reader ? std::string() : reader.error().what;
}

}  // namespace

TEST_CASE("a tree gives files, links and errors back as they were captured") {
  const auto reader = tree(
      "file /a/one = text\nfile /a/two\n| first\n|\n|- last \\x20\\\\\nfile /a/empty\nlink /l -> a/one\nlink /abs -> /a\n"
      "file /bad !EIO\nfolder /locked !EACCES\nunread /a/listed\nother /dev/x\n");
  CHECK(reader->file("/a/one").value() == "text\n");
  CHECK(reader->file("/a/two").value() == "first\n\nlast  \\");
  CHECK(reader->file("/a/empty").value().empty());
  CHECK(reader->file("/l").value() == "text\n");
  CHECK(reader->file("/abs/one").value() == "text\n");
  CHECK(reader->canonical("/abs/one").value() == "/a/one");
  CHECK(reader->link("/l").value() == "a/one");
  CHECK(is_errno(reader->file("/bad").error(), EIO));
  CHECK(is_errno(reader->list("/locked").error(), EACCES));
  CHECK(is_errno(reader->file("/locked/x").error(), EACCES));
  CHECK(is_errno(reader->file("/a/none").error(), ENOENT));
  CHECK(is_errno(reader->file("/a/listed").error(), ENODATA));
  CHECK(reader->list("/a").value() == std::vector<std::string>{"empty", "listed", "one", "two"});
  CHECK(reader->entry("/l") == host::Entry::link);
  CHECK(reader->entry("/dev/x") == host::Entry::other);
  CHECK(reader->entry("/nothing") == host::Entry::absent);
}

TEST_CASE("links in a tree never leave it and loops end") {
  const auto reader = tree("link /out -> ../../../../a\nfile /a = inside\nlink /loop -> loop\n");
  CHECK(reader->file("/out").value() == "inside\n");
  CHECK(is_errno(reader->file("/loop").error(), ELOOP));
}

TEST_CASE("a tree with mistakes is refused with the line") {
  CHECK(parse_error("file /a = x\nfile /a = y\n").find("line 4") == 0);
  CHECK(parse_error("filo /a\n").find("line 2: 'filo'") == 0);
  CHECK(parse_error("| text\n").find("line 2: content without a file") == 0);
  CHECK(parse_error("file /a !EWHAT\n").find("'!EWHAT'") != std::string::npos);
  CHECK(parse_error("file /a = \\q\n").find("escape") != std::string::npos);
  CHECK(parse_error("file relative = x\n").find("not absolute") != std::string::npos);
  CHECK(parse_error("file /a/../b = x\n").find("'..'") != std::string::npos);
  CHECK_FALSE(host::tree_reader("something else\n").has_value());
  CHECK_FALSE(host::tree_reader("").has_value());
}

TEST_CASE("every fixture printed again reads as the same machine") {
  for (const std::string& name : fixture::host_names()) {
    CAPTURE(name);
    const auto first = host::parse_tree(fixture::tree_of(name));
    REQUIRE(first.has_value());
    const std::string printed = host::to_text(*first);
    const auto second = host::parse_tree(printed);
    REQUIRE(second.has_value());
    CHECK(host::to_text(*second) == printed);
    CHECK(fixture::summary(fixture::look_at_text(printed)) == fixture::summary(fixture::look_at(name)));
  }
}

TEST_CASE("a machine captured as a folder reads as the same machine as a tree") {
  const Folder folder;
  const auto unpack = [&](const auto& self, const std::string& path, const host::TreeNode& node) -> void {
    if (node.kind == host::Entry::link)
      folder.link(path.substr(1), node.text);
    else if (node.kind != host::Entry::folder)
      folder.put(path.substr(1), node.text);
    else
      fs::create_directories(folder.path() / path.substr(path.empty() ? 0 : 1));
    for (const auto& [name, child] : node.children) self(self, path + "/" + name, child);
  };
  for (const char* name : {"aws-i4i", "storage", "multipath-on"}) {  // without error entries, which a folder cannot have
    CAPTURE(name);
    fs::remove_all(folder.path());
    unpack(unpack, "", host::parse_tree(fixture::tree_of(name)).value().root());
    const std::string as_folder = fixture::summary(fixture::look_at(*folder.reader()));
    const auto notes_off = [](std::string text) {  // notes quote paths in the words of each reader
      for (std::size_t at = text.find("note: "); at != std::string::npos; at = text.find("note: "))
        text.erase(at, text.find('\n', at) + 1 - at);
      return text;
    };
    CHECK(notes_off(as_folder) == notes_off(fixture::summary(fixture::look_at(name))));
  }
}

TEST_CASE("a captured folder is never left, neither by absolute links nor by dots") {
  const Folder folder;
  folder.put("etc/inside", "in\n");
  folder.link("abs", "/etc/inside");
  folder.link("dots", "../../../../../../../../etc/inside");
  folder.link("outside", "/etc/passwd");
  const auto reader = folder.reader();
  CHECK(reader->file("/abs").value() == "in\n");
  CHECK(reader->file("/dots").value() == "in\n");
  CHECK(is_errno(reader->file("/outside").error(), ENOENT));
  CHECK(is_errno(reader->file("/../../etc/passwd").error(), ENOENT));
  CHECK(reader->canonical("/abs").value() == "/etc/inside");
  CHECK(reader->captured());
}

TEST_CASE("what is no file in a captured folder is not read and does not hang") {
  const Folder folder;
  folder.put("d/file", "x");
  REQUIRE(::mkfifo((folder.path() / "fifo").c_str(), 0600) == 0);
  const auto reader = folder.reader();
  CHECK_FALSE(reader->file("/fifo").has_value());
  CHECK(is_errno(reader->file("/d").error(), EISDIR));
  CHECK(is_errno(reader->list("/d/file").error(), ENOTDIR));
  CHECK(is_errno(reader->link("/d/file").error(), EINVAL));
}

TEST_CASE("a file larger than the bound is an error") {
  const Folder folder;
  folder.put("large", std::string(host::kMaxFileBytes + 1, 'x'));
  folder.put("fits", std::string(host::kMaxFileBytes, 'x'));
  const auto reader = folder.reader();
  CHECK_FALSE(reader->file("/large").has_value());
  CHECK(reader->file("/fits").value().size() == host::kMaxFileBytes);
}

TEST_CASE("a captured machine that is not there is an error with a remedy") {
  const auto reader = host::captured_reader("/nonexistent/machine.tree");
  REQUIRE_FALSE(reader.has_value());
  CHECK_FALSE(reader.error().remedy.empty());
}

TEST_CASE("outputs of programs come from cmd in a captured machine, and live only from those that are given") {
  CHECK(tree("file /cmd/lvm.vgs = {}\n")->output("lvm.vgs").value() == "{}\n");
  CHECK(is_errno(tree("folder /cmd\n")->output("lvm.vgs").error(), ENOENT));
  const auto live = host::live_reader([](std::string_view name, const std::vector<std::string>& devices) {
    return Result<std::string>(std::string(name) + " " + std::to_string(devices.size()));
  });
  CHECK(live->output("lvm.vgs", {"/dev/a", "/dev/b"}).value() == "lvm.vgs 2");
  CHECK(live->output("ip.addr").value().find("127.0.0.1") != std::string::npos);
  CHECK(is_errno(host::live_reader()->output("lvm.vgs").error(), ENOENT));
}

}  // namespace nvstripe
