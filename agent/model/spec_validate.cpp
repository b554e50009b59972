// Owns the walk over tree and table. It finds every error of a file, since a list is mended in one go.
#include "agent/model/spec_validate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/base/text.hpp"
#include "agent/model/spec_fields.hpp"

namespace nvstripe {
namespace {

using Kind = YamlNode::Kind;

std::string_view kind_words(const YamlNode& node) {
  switch (node.kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      return "a single value";
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
  }
  return "nothing";
}

class Walk {
 public:
  Walk(const std::string& file, std::vector<SpecError>& errors) : file_(file), errors_(errors) {}

  void map(const YamlNode& node, std::string_view path) {
    const auto fields = spec_fields_below(path);
    for (std::size_t i = 0; i < node.keys.size() && i < node.items.size(); ++i) {
      if (node.keys[i].kind != Kind::scalar) continue;  // said by the tree
      const auto found = std::find_if(fields.begin(), fields.end(),
                                      [&](const SpecField* field) { return last_part(field->path) == node.keys[i].text; });
      if (found == fields.end()) {
        unknown_key(node.keys[i], path, fields);
      } else {
        value(node.keys[i], node.items[i], **found);
      }
    }
    for (const SpecField* field : fields) {
      if (!field->required || node.find(last_part(field->path)) != nullptr) continue;
      say(node, fmt::format("'{}' is missing", field->path),
          fmt::format("add '{}:' with {}", last_part(field->path), type_words(*field)));
    }
  }

 private:
  void say(const YamlNode& at, std::string what, std::string remedy) {
    errors_.push_back({SourcePlace{file_, at.line, at.column}, std::move(what), std::move(remedy)});
  }

  void unknown_key(const YamlNode& key, std::string_view path, const std::vector<const SpecField*>& fields) {
    std::vector<std::string_view> known;
    std::vector<std::string> listed;
    for (const SpecField* field : fields) {
      known.push_back(last_part(field->path));
      listed.emplace_back(known.back());
    }
    const std::string where = path.empty() ? std::string() : fmt::format(" in '{}'", path);
    const std::string what = fmt::format("unknown key '{}'{}", printable(key.text), where);
    if (key.text == "<<") return say(key, what, "YAML merge keys are not offered: write the values out");
    const std::string_view near = nearest(key.text, known);
    if (!near.empty()) return say(key, what, fmt::format("did you mean '{}'?", near));
    say(key, what, fmt::format("known keys there: {}", join(listed, ", ")));
  }

  void value(const YamlNode& key, const YamlNode& node, const SpecField& field) {
    if (field.type == FieldType::not_offered) {
      return say(key, fmt::format("'{}' is not offered by this version", field.path), "remove it");
    }
    if (node.kind == Kind::null) {
      return say(key, fmt::format("'{}' has no value", field.path),
                 fmt::format("write {}{}", type_words(field), field.required ? "" : ", or remove the key"));
    }
    switch (field.type) {
      case FieldType::object:
        if (expect(node, field, Kind::map)) map(node, field.path);
        return;
      case FieldType::named_items:
      case FieldType::items:
        if (expect(node, field, Kind::list)) items(node, field);
        return;
      case FieldType::words:
        if (expect(node, field, Kind::list)) words(node, field);
        return;
      default:
        if (expect(node, field, Kind::scalar)) scalar(node, field, field.type);
    }
  }

  bool expect(const YamlNode& node, const SpecField& field, Kind kind) {
    if (node.kind == kind) return true;
    const bool bare = field.type == FieldType::words && node.kind == Kind::scalar;  // `from: s1`
    say(node, fmt::format("'{}' is {}", field.path, kind_words(node)),
        bare ? fmt::format("write {}: [{}]", last_part(field.path), printable(node.text))
             : fmt::format("write {}", type_words(field)));
    return false;
  }

  void scalar(const YamlNode& node, const SpecField& field, FieldType type) {
    if (node.quoted && type == FieldType::number) {
      return say(node, fmt::format("'{}' is text in quotes, not a number", field.path), "remove the quotes");
    }
    const auto checked = check_value(field, type, node.text);
    if (!checked) say(node, fmt::format("{}: {}", field.path, checked.error().what), checked.error().remedy);
  }

  void words(const YamlNode& list, const SpecField& field) {
    if (list.items.empty()) say(list, fmt::format("'{}' is empty", field.path), fmt::format("write {}", type_words(field)));
    std::vector<std::string_view> seen;
    for (const YamlNode& item : list.items) {
      if (item.kind != Kind::scalar) {
        say(item, fmt::format("'{}' holds {}", field.path, kind_words(item)), fmt::format("write {}", type_words(field)));
        continue;
      }
      scalar(item, field, field.items);
      if (std::find(seen.begin(), seen.end(), item.text) != seen.end()) {
        say(item, fmt::format("'{}' names '{}' twice", field.path, printable(item.text)), "remove one of them");
      }
      seen.push_back(item.text);
    }
  }

  void items(const YamlNode& list, const SpecField& field) {
    const std::string below = std::string(field.path) + "[]";
    std::vector<const YamlNode*> names;
    for (const YamlNode& item : list.items) {
      if (item.kind != Kind::map) {
        say(item.line == 0 ? list : item, fmt::format("'{}' holds {}", field.path, kind_words(item)),
            "write a map, '- key: value', for each");
        continue;
      }
      map(item, below);
      const YamlNode* name = field.type == FieldType::named_items ? item.find("name") : nullptr;
      if (name == nullptr || name->kind != Kind::scalar) continue;
      for (const YamlNode* other : names) {
        if (other->text != name->text) continue;
        say(*name,
            fmt::format("'{}' has two items named '{}', the first in line {}", field.path, printable(name->text),
                        other->line),
            "rename or remove one of them");
        break;
      }
      names.push_back(name);
    }
  }

  const std::string& file_;
  std::vector<SpecError>& errors_;
};

}  // namespace

std::vector<SpecError> validate_spec(const std::string& file, const YamlNode& root) {
  std::vector<SpecError> errors;
  if (root.kind == Kind::map) {
    Walk(file, errors).map(root, "");
  } else if (root.kind != Kind::null) {
    errors.push_back({SourcePlace{file, root.line, root.column}, fmt::format("the file is {}, not a map", kind_words(root)),
                      "begin it with 'version: 1'"});
  }
  return errors;
}

}  // namespace nvstripe
