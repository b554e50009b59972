// Owns the text form of a tree: strict reading with line numbers, and printing that reads back to the same tree.
#include <array>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/host/tree.hpp"

namespace nvstripe::host {
namespace {

constexpr std::string_view kFirstLine = "nvstripe-tree 1";

struct ErrnoName {
  std::string_view name;
  int code;
};
constexpr std::array<ErrnoName, 15> kErrnoNames{{{"EACCES", EACCES},
                                                 {"EPERM", EPERM},
                                                 {"EIO", EIO},
                                                 {"ENODEV", ENODEV},
                                                 {"ENXIO", ENXIO},
                                                 {"EINVAL", EINVAL},
                                                 {"EAGAIN", EAGAIN},
                                                 {"ENODATA", ENODATA},
                                                 {"ENOENT", ENOENT},
                                                 {"EBUSY", EBUSY},
                                                 {"ENOTCONN", ENOTCONN},
                                                 {"EOPNOTSUPP", EOPNOTSUPP},
                                                 {"ETIMEDOUT", ETIMEDOUT},
                                                 {"ELOOP", ELOOP},
                                                 {"EOVERFLOW", EOVERFLOW}}};

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text[0] != '\\') {
      out += text[0];
      text.remove_prefix(1);
    } else if (text.size() >= 2 && text[1] == '\\') {
      out += '\\';
      text.remove_prefix(2);
    } else if (text.size() >= 4 && text[1] == 'x' && parse_number(text.substr(2, 2), 16)) {
      out += static_cast<char>(*parse_number(text.substr(2, 2), 16));
      text.remove_prefix(4);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

void append_hex(std::string& out, char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  out += "\\x" + hex(&byte, 1);
}

std::string escape_path(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f)
      append_hex(out, c);
    else
      out += c;
  }
  return out;
}

// Tabs and inner blanks stay readable; blanks at the end do not survive editors and are escaped.
std::string escape_line(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool last = i + 1 == text.size();
    if (text[i] == '\\')
      out += "\\\\";
    else if ((byte < 0x20 && byte != '\t') || byte >= 0x7f || (last && byte <= 0x20))
      append_hex(out, text[i]);
    else
      out += text[i];
  }
  return out;
}

class Parser {
 public:
  Result<Tree> parse(std::string_view text) {
    for (std::string_view line : split(text, '\n')) {
      ++number_;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      CHECKED(take(line));
    }
    if (!begun_) return error("the first line is not '" + std::string(kFirstLine) + "'");
    CHECKED(flush());
    return std::move(tree_);
  }

 private:
  tl::unexpected<Error> error(const std::string& what) const {
    return fail("line " + std::to_string(number_) + ": " + what, "see docs/host-tree.md");
  }

  Result<> take(std::string_view line) {
    if (!begun_) {
      if (line != kFirstLine) return error("the first line is not '" + std::string(kFirstLine) + "'");
      begun_ = true;
      return {};
    }
    if (line.empty() || line[0] == '#') return {};
    if (line[0] == '|') return content(line);
    CHECKED(flush());
    return entry(line);
  }

  Result<> content(std::string_view line) {
    if (path_.empty() || node_.kind != Entry::file || closed_) return error("content without a file before it");
    const bool no_newline = line.substr(0, 2) == "|-";
    line.remove_prefix(no_newline ? 2 : 1);
    if (!line.empty() && line[0] == ' ') line.remove_prefix(1);
    const auto bytes = unescape(line);
    if (!bytes) return error("an escape is neither '\\\\' nor '\\xNN'");
    node_.text += *bytes;
    if (no_newline)
      closed_ = true;
    else
      node_.text += '\n';
    return {};
  }

  Result<> entry(std::string_view line) {
    const std::size_t blank = line.find(' ');
    const std::string_view word = line.substr(0, blank);
    if (blank == std::string_view::npos) return error("'" + printable(word) + "' without a path");
    line.remove_prefix(blank + 1);
    const std::size_t end = line.find(' ');
    const auto path = unescape(line.substr(0, end));
    if (!path || path->empty()) return error("the path has a wrong escape");
    line = end == std::string_view::npos ? std::string_view() : line.substr(end + 1);
    node_ = TreeNode{};
    closed_ = false;
    path_ = *path;
    if (word == "folder")
      node_.kind = Entry::folder;
    else if (word == "file")
      node_.kind = Entry::file;
    else if (word == "link")
      node_.kind = Entry::link;
    else if (word == "other" || word == "unread")
      node_.kind = Entry::other;
    else
      return error("'" + printable(word) + "' is none of folder, file, link, other, unread");
    node_.unread = word == "unread";
    return details(line);
  }

  Result<> details(std::string_view line) {
    if (node_.kind == Entry::link) {
      const auto target = line.substr(0, 3) == "-> " ? unescape(line.substr(3)) : std::nullopt;
      if (!target) return error("a link without '-> target'");
      node_.text = *target;
      return {};
    }
    while (!line.empty()) {
      if (node_.kind == Entry::file && (line == "=" || line.substr(0, 2) == "= ")) {
        const auto bytes = unescape(line.substr(line.size() > 1 ? 2 : 1));
        if (!bytes) return error("an escape is neither '\\\\' nor '\\xNN'");
        node_.text = *bytes + "\n";
        closed_ = true;
        return {};
      }
      const std::size_t end = line.find(' ');
      CHECKED(option(line.substr(0, end)));
      line = end == std::string_view::npos ? std::string_view() : line.substr(end + 1);
    }
    return {};
  }

  Result<> option(std::string_view word) {
    if (word.substr(0, 1) == "!") {
      for (const ErrnoName& row : kErrnoNames) {
        if (row.name == word.substr(1)) node_.error = row.code;
      }
      if (node_.error == 0) return error("'" + printable(word) + "' is not a known error");
      closed_ = true;
      return {};
    }
    if (!node_.status) node_.status = Status{node_.kind, 0, 0, 0};
    const auto mode = word.substr(0, 5) == "mode=" ? parse_number(word.substr(5), 8) : std::nullopt;
    if (mode) {
      node_.status->mode = static_cast<unsigned>(*mode) & 07777u;
      return {};
    }
    const std::vector<std::string_view> ids = split(word.substr(0, 6) == "owner=" ? word.substr(6) : "", ':');
    const auto uid = ids.size() == 2 ? parse_number(ids[0]) : std::nullopt;
    const auto gid = ids.size() == 2 ? parse_number(ids[1]) : std::nullopt;
    if (!uid || !gid) return error("'" + printable(word) + "' is none of !ERRNO, mode=OCTAL, owner=UID:GID");
    node_.status->uid = static_cast<std::uint32_t>(*uid);
    node_.status->gid = static_cast<std::uint32_t>(*gid);
    return {};
  }

  Result<> flush() {
    if (path_.empty()) return {};
    if (auto put = tree_.put(path_, std::move(node_)); !put) return error(put.error().what);
    path_.clear();
    return {};
  }

  Tree tree_;
  TreeNode node_;
  std::string path_;
  int number_ = 0;
  bool begun_ = false, closed_ = false;
};

std::string errno_name(int code) {
  for (const ErrnoName& row : kErrnoNames) {
    if (row.code == code) return std::string(row.name);
  }
  return "EIO";  // an errno without a name of ours still reads as "cannot see"
}

void print_file(std::string& out, const std::string& text) {
  if (text.empty()) {
    out += '\n';
    return;
  }
  const std::vector<std::string_view> lines = split(text, '\n');
  if (lines.size() == 2 && lines[1].empty()) {
    out += lines[0].empty() ? " =\n" : " = " + escape_line(lines[0]) + "\n";
    return;
  }
  out += '\n';
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    out += lines[i].empty() ? "|\n" : "| " + escape_line(lines[i]) + "\n";
  }
  if (!lines.back().empty()) out += "|- " + escape_line(lines.back()) + "\n";
}

void print(std::string& out, const std::string& path, const TreeNode& node) {
  const bool implied = node.kind == Entry::folder && !node.children.empty() && node.error == 0 && !node.status;
  if (!implied && !path.empty()) {
    constexpr std::array<std::string_view, 5> kWords{"other", "file", "folder", "link", "other"};
    out += node.unread ? "unread" : kWords[static_cast<std::size_t>(node.kind)];
    out += " " + escape_path(path);
    if (node.kind == Entry::link) out += " -> " + escape_line(node.text);
    if (node.status) {
      std::array<char, 8> mode{};
      std::size_t digits = 0;
      for (unsigned rest = node.status->mode; digits < 4; rest >>= 3u)
        mode[3 - digits++] = static_cast<char>('0' + (rest & 7u));
      out += " mode=" + std::string(mode.data(), 4) + " owner=" + std::to_string(node.status->uid) + ":" +
             std::to_string(node.status->gid);
    }
    if (node.error != 0) out += " !" + errno_name(node.error);
    if (node.kind == Entry::file && node.error == 0)
      print_file(out, node.text);
    else
      out += '\n';
  }
  for (const auto& [name, child] : node.children) print(out, path + "/" + name, child);
}

}  // namespace

Result<Tree> parse_tree(std::string_view text) { return Parser().parse(text); }

std::string to_text(const Tree& tree) {
  std::string out = std::string(kFirstLine) + "\n";
  print(out, "", tree.root());
  return out;
}

}  // namespace nvstripe::host
