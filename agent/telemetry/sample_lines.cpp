// Owns the line text of samples: "nvstripe-metrics 1", then for each family "f NAME" and for each of its samples a line
// "s VALUE" or "h SUM COUNT,COUNT,…", with one more field a label; "end" comes last. Fields are divided by tabs.
#include <charconv>
#include <cmath>

#include "agent/base/text.hpp"
#include "agent/telemetry/sample.hpp"

namespace nvstripe {
namespace {

constexpr std::string_view kFirstLine = "nvstripe-metrics 1", kLastLine = "end";

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
}

Result<std::string> unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char next = ++i < text.size() ? text[i] : '\0';
    if (next != '\\' && next != 't' && next != 'n') return fail("a label of a metric ends in half an escape");
    out += next == 't' ? '\t' : next == 'n' ? '\n' : '\\';
  }
  return out;
}

void append_number(std::string& out, double value) {
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, value);  // the shortest that reads back as the same
  out.append(text, written.ptr);
}

Result<double> number_of(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size())
    return fail("'" + printable(text) + "' is no value of a metric");
  return value;
}

void append_sample(std::string& out, const Sample& sample) {
  out += sample.counts.empty() ? "s\t" : "h\t";
  append_number(out, sample.value);
  for (std::size_t i = 0; i < sample.counts.size(); ++i)
    out.append(i == 0 ? "\t" : ",").append(std::to_string(sample.counts[i]));
  for (const std::string& label : sample.labels) {
    out += '\t';
    append_escaped(out, label);
  }
  out += '\n';
}

Result<std::vector<std::uint64_t>> counts_of(std::string_view text) {
  std::vector<std::uint64_t> counts;
  for (const std::string_view part : split(text, ',')) {
    const auto count = parse_number(part);
    if (!count) return fail("'" + printable(text) + "' are no counts of a metric");
    counts.push_back(*count);
  }
  return counts;
}

Result<Sample> sample_of(const std::vector<std::string_view>& fields) {
  const bool histogram = fields[0] == "h";
  const std::size_t first_label = histogram ? 3 : 2;
  if (fields.size() < first_label) return fail("a sample of a metric is cut off");
  Sample sample;
  TRY(sample.value, number_of(fields[1]));
  if (histogram) {
    TRY(sample.counts, counts_of(fields[2]));
  }
  for (std::size_t i = first_label; i < fields.size(); ++i) {
    TRY(std::string label, unescaped(fields[i]));
    sample.labels.push_back(std::move(label));
  }
  return sample;
}

}  // namespace

std::string to_lines(const SampleSet& samples) {
  std::string out(kFirstLine);
  out += '\n';
  for (const Family& family : samples) {
    out.append("f\t").append(family.name).append("\n");
    for (const Sample& sample : family.samples) append_sample(out, sample);
  }
  out.append(kLastLine).append("\n");
  return out;
}

Result<SampleSet> from_lines(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.front() != kFirstLine)
    return fail("the metrics begin with '" + printable(lines.front().substr(0, 40)) + "', not with '" +
                    std::string(kFirstLine) + "'",
                "the two programs are of different versions; restart both services");
  const std::size_t last = lines.size() - 2;
  if (lines.size() < 3 || lines[last] != kLastLine || !lines.back().empty()) return fail("the metrics are cut off");
  SampleSet out;
  for (std::size_t i = 1; i < last; ++i) {
    const auto fields = split(lines[i], '\t');
    if (fields[0] == "f" && fields.size() == 2) {
      out.push_back(Family{std::string(fields[1]), {}});
    } else if ((fields[0] == "s" || fields[0] == "h") && !out.empty()) {
      TRY(Sample sample, sample_of(fields));
      out.back().samples.push_back(std::move(sample));
    } else {
      return fail("'" + printable(lines[i].substr(0, 40)) + "' is no line of metrics");
    }
  }
  return out;
}

}  // namespace nvstripe
