// Owns Facet: a part of what is seen that is either known or unavailable with a reason. Absence is evidence only when the
// source of the list was readable, so "could not look" is a state of its own and never an empty list.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

namespace nvstripe {

template <class T>
class Facet {
 public:
  Facet() = default;  // unavailable: not looked at
  static Facet known(T value) {
    Facet facet;
    facet.value_ = std::move(value);
    facet.reason_.clear();
    return facet;
  }
  static Facet unavailable(std::string reason) {
    Facet facet;
    facet.reason_ = reason.empty() ? std::string("no reason given") : std::move(reason);
    return facet;
  }
  [[nodiscard]] bool is_known() const { return reason_.empty(); }
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const T& value() const { return value_; }  // an empty T while unavailable; ask is_known() first
  [[nodiscard]] T& value() { return value_; }
  bool operator==(const Facet&) const = default;

 private:
  T value_{};
  std::string reason_ = "not looked at";
};

enum class FacetName : std::uint32_t {
  blocks = 1u << 0,
  controllers = 1u << 1,
  exports = 1u << 2,
  arrays = 1u << 3,
  lvm = 1u << 4,
  mounts = 1u << 5,
  units = 1u << 6,
  links = 1u << 7,
  rdma = 1u << 8,
  kernel = 1u << 9,
  tools = 1u << 10,
  identity = 1u << 11,
  targets = 1u << 12,
  records = 1u << 13,
  sysctls = 1u << 14,
};

using FacetSet = std::uint32_t;
constexpr FacetSet kAllFacets = 0xffffffffu;
constexpr FacetSet operator|(FacetName a, FacetName b) { return static_cast<FacetSet>(a) | static_cast<FacetSet>(b); }
constexpr FacetSet operator|(FacetSet a, FacetName b) { return a | static_cast<FacetSet>(b); }
constexpr bool contains(FacetSet set, FacetName name) { return (set & static_cast<FacetSet>(name)) != 0; }

}  // namespace nvstripe
