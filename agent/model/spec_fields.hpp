// Owns the one table of every field of the spec. The reader's checks, the reference in docs/spec.md and the JSON schema are
// made from it, so that none of them can know a field that the others do not.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe {

enum class FieldType {
  object,       // a map with the fields below its path
  named_items,  // a list of maps, each with a name of its own; merged by name over files
  items,        // a list of maps
  words,        // a list of scalars, each as `items` of the field says
  number,
  number_or_all,
  choice,
  name,     // [A-Za-z0-9_-]{1,24}
  label,    // [A-Za-z0-9._-]{1,64}
  text,     // printable, 1 to 64 bytes
  size,     // 128KiB
  rate,     // 900MB/s
  uuid,     // or the word auto
  nqn,      // nqn.2014-08.org.nvmexpress:uuid:…
  network,  // 10.9.0.0/24
  interface,
  address,   // name, IPv4 or IPv6
  endpoint,  // [::]:9766, or the word off
  url,       // https://collector:8443/events
  duration,  // 15s
  path,
  mode,         // octal
  account,      // user or group: name or number
  not_offered,  // known, and refused by this version
};

struct SpecField {
  std::string_view path;  // "exports[].listen.port"; "[]" stands for each item of a list
  FieldType type = FieldType::text;
  bool required = false;
  std::string_view fallback = {};     // what holds without it, in words of the spec; empty: nothing
  std::string_view help = {};         // one line
  std::string_view choices = {};      // parted by blanks
  FieldType items = FieldType::text;  // of words
  std::uint64_t min = 0, max = std::numeric_limits<std::uint64_t>::max();  // numbers, bytes of sizes and rates, milliseconds
};

[[nodiscard]] std::span<const SpecField> spec_fields();
[[nodiscard]] const SpecField* find_spec_field(std::string_view path);
// The last part of the paths directly below `path`; "" is the top.
[[nodiscard]] std::vector<const SpecField*> spec_fields_below(std::string_view path);
[[nodiscard]] std::string_view last_part(std::string_view path);

// Whether `text` is a value for a scalar field (or one word of a list of words); the error says why not.
[[nodiscard]] Result<> check_value(const SpecField& field, FieldType type, std::string_view text);

[[nodiscard]] std::string type_words(const SpecField& field);  // "size, 4KiB to 256KiB"
[[nodiscard]] std::string spec_reference();                    // the reference part of docs/spec.md
[[nodiscard]] std::string spec_schema();                       // JSON schema 2020-12, for editors and `config schema`

// The known word nearest to a misspelled one; empty if none is near.
[[nodiscard]] std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace nvstripe
