// Owns the taking apart of an argument vector, each part in its place; anything else ends the test.
#pragma once
#include <string>

#include "tests/sim/programs.hpp"

namespace nvstripe::sim {

struct Programs::Words {
  explicit Words(const Run& run) : run_(run) {}
  std::string program() { return text(); }
  [[nodiscard]] bool more() const { return at_ < run_.argv.size(); }
  [[nodiscard]] bool next_is_device() const { return more() && std::holds_alternative<DeviceRef>(run_.argv[at_]); }
  std::string text() {
    if (!more() || next_is_device()) throw Broken("a word is missing: " + all());
    return std::get<std::string>(run_.argv[at_++]);
  }
  DeviceKey device() {
    if (!next_is_device()) throw Broken("a device is missing: " + all());
    return std::get<DeviceRef>(run_.argv[at_++]).key;
  }
  bool take(const std::string& word) {
    if (!more() || next_is_device() || std::get<std::string>(run_.argv[at_]) != word) return false;
    ++at_;
    return true;
  }
  void must(const std::string& word) {
    if (!take(word)) throw Broken("'" + word + "' is missing: " + all());
  }
  std::string value(const std::string& prefix) {
    const std::string word = text();
    if (!word.starts_with(prefix)) throw Broken("'" + prefix + "' is missing: " + all());
    return word.substr(prefix.size());
  }
  void rest() { at_ = run_.argv.size(); }
  void end() const {
    if (more()) throw Broken("words are left over: " + all());
  }
  [[nodiscard]] std::string all() const {
    std::string out;
    for (const Arg& arg : run_.argv) {
      const auto* word = std::get_if<std::string>(&arg);
      out += (out.empty() ? "" : " ") + (word != nullptr ? *word : "<" + std::get<DeviceRef>(arg).key.text + ">");
    }
    return out;
  }

 private:
  const Run& run_;
  std::size_t at_ = 0;
};

}  // namespace nvstripe::sim
