// Owns the way from text to tree by yaml-cpp's events. Its node type is not used: it hides double keys, follows aliases in
// circles and turns texts into numbers by C's rules (0.7: `010` is 8).
#include "agent/model/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "agent/base/text.hpp"

namespace nvstripe {
namespace {

// Thrown through yaml-cpp's parser to end it; never leaves this file.
struct Stop {
  YAML::Mark mark;
  std::string what, remedy;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& file, YamlReading& reading) : file_(file), reading_(reading) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw Stop{mark, "a second YAML document begins", "keep one document a file; use conf.d for more"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(make(mark, YamlNode::Kind::null));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Stop{mark, "a YAML alias ('*name') is not offered", "write the value out"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    YamlNode node = make(mark, YamlNode::Kind::scalar);
    node.text = value;
    node.quoted = tag == "!";
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    open(mark, tag, YamlNode::Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    open(mark, tag, YamlNode::Kind::map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  static YamlNode make(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }
  // yaml-cpp gives "?" to plain nodes, "!" to quoted scalars and, for some empty nodes, nothing.
  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw Stop{mark, fmt::format("the YAML tag '{}' is not offered", printable(tag)), "write the value without a tag"};
  }
  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor) return;
    throw Stop{mark, "a YAML anchor ('&name') is not offered", "write the value out wherever it is meant"};
  }
  void open(const YAML::Mark& mark, const std::string& tag, YamlNode::Kind kind) {
    refuse_tag(mark, tag);
    if (static_cast<int>(open_.size()) >= kMaxYamlDepth) {
      throw Stop{mark, fmt::format("lists and maps are nested deeper than {}", kMaxYamlDepth), "remove the inner brackets"};
    }
    open_.push_back(make(mark, kind));
  }
  void close() {
    YamlNode node = std::move(open_.back());
    open_.pop_back();
    // An unpaired key cannot be left over: the parser emits a null value for it.
    if (node.keys.size() > node.items.size()) node.keys.pop_back();
    add(std::move(node));
  }
  void add(YamlNode node) {
    if (open_.empty()) {
      reading_.root = std::move(node);
      return;
    }
    YamlNode& parent = open_.back();
    if (parent.kind == YamlNode::Kind::map && parent.keys.size() == parent.items.size()) {
      check_key(parent, node);
      parent.keys.push_back(std::move(node));
    } else {
      parent.items.push_back(std::move(node));
    }
  }
  void check_key(const YamlNode& parent, const YamlNode& key) {
    const SourcePlace place{file_, key.line, key.column};
    if (key.kind != YamlNode::Kind::scalar) {
      reading_.errors.push_back({place, "a key is not a word", "write 'key: value'"});
      return;
    }
    const auto same = [&](const YamlNode& other) { return other.kind == key.kind && other.text == key.text; };
    const auto first = std::find_if(parent.keys.begin(), parent.keys.end(), same);
    if (first == parent.keys.end()) return;
    reading_.errors.push_back({place,
                               fmt::format("key '{}' is given twice, first in line {}", printable(key.text), first->line),
                               "remove one of them"});
  }

  const std::string& file_;
  YamlReading& reading_;
  std::vector<YamlNode> open_;
  int documents_ = 0;
};

// Where the first byte stands that no spec needs: invalid UTF-8, a control character, a byte-order mark of UTF-16.
std::size_t first_odd_byte(const std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f) return at;
  }
  const std::string clean = to_utf8(text);
  if (clean == text) return std::string::npos;
  return static_cast<std::size_t>(std::mismatch(text.begin(), text.end(), clean.begin(), clean.end()).first - text.begin());
}

SourcePlace place_of(const std::string& file, const std::string& text, std::size_t at) {
  const auto begin = text.begin(), here = begin + static_cast<std::ptrdiff_t>(at);
  const auto lines = std::count(begin, here, '\n');
  const std::size_t line_start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t column = line_start == std::string::npos ? at : at - line_start - 1;
  return {file, static_cast<int>(lines) + 1, static_cast<int>(column) + 1};
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size() && i < items.size(); ++i) {
    if (keys[i].kind == Kind::scalar && keys[i].text == key) return &items[i];
  }
  return nullptr;
}

YamlReading read_yaml(const std::string& file, const std::string& text) {
  YamlReading reading;
  const auto refuse = [&](const SourcePlace& place, std::string what, std::string remedy) {
    reading.root = YamlNode{};
    reading.errors.push_back({place, std::move(what), std::move(remedy)});
  };
  if (text.size() > kMaxYamlBytes) {
    refuse({file, 1, 1}, fmt::format("the file is larger than {} KiB", kMaxYamlBytes / 1024), "split it over conf.d");
    return reading;
  }
  if (const std::size_t odd = first_odd_byte(text); odd != std::string::npos) {
    refuse(place_of(file, text, odd), fmt::format("byte '{}' is not text", printable(std::string_view(text).substr(odd, 1))),
           "save the file as UTF-8 text");
    return reading;
  }
  std::istringstream stream(text);
  TreeBuilder builder(file, reading);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stop) {
    refuse({file, stop.mark.line + 1, stop.mark.column + 1}, stop.what, stop.remedy);
  } catch (const YAML::Exception& error) {
    refuse({file, error.mark.line + 1, error.mark.column + 1}, fmt::format("not valid YAML: {}", error.msg),
           "check indentation, quotes and brackets there");
  } catch (const std::exception& error) {
    refuse({file, 1, 1}, fmt::format("not valid YAML: {}", error.what()), "check the file from its beginning");
  }
  return reading;
}

}  // namespace nvstripe
