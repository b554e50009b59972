// Owns the choice between what lies in the folders and the last good spec. Reads regular files only, bounded, and never
// waits on one (a FIFO or device in a spec folder is an error, not a hang).
#include "agent/daemon/spec_source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::daemon {
namespace {

namespace fs = std::filesystem;
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

Result<> write_durably(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  {
    const Descriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    if (file.fd < 0) return fail_errno("cannot write '" + temporary + "'");
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t put = ::write(file.fd, text.data() + done, text.size() - done);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return fail_errno("cannot write '" + temporary + "'");
      done += static_cast<std::size_t>(put);
    }
    if (::fsync(file.fd) != 0) return fail_errno("cannot write '" + temporary + "'");
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail_errno("cannot write '" + path + "'");
  return {};
}

bool same(const std::vector<SpecText>& left, const std::vector<SpecText>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const SpecText& a, const SpecText& b) { return a.path == b.path && a.text == b.text; });
}

bool all_blank(const std::vector<SpecText>& texts) {
  return std::all_of(texts.begin(), texts.end(), [](const SpecText& file) { return trim(file.text).empty(); });
}

}  // namespace

void SpecSource::restore() {
  const auto kept = api::read_regular(places_.last_good);
  if (!kept) return;
  const auto parsed = json::parse(*kept);
  if (!parsed || !parsed->is_array()) return;
  std::vector<SpecText> texts;
  for (const auto& entry : parsed->as_array()) {
    if (!entry.is_object()) return;
    const auto* path = entry.as_object().if_contains("path");
    const auto* text = entry.as_object().if_contains("text");
    if (path == nullptr || text == nullptr || !path->is_string() || !text->is_string()) return;
    texts.push_back(SpecText{std::string(path->as_string()), std::string(text->as_string())});
  }
  auto spec = parse_(texts);
  if (!spec) return;  // an older version's spec that this one refuses: the folders decide
  for (const SpecText& file : texts) state_.files.push_back(file.path);
  state_.spec = std::move(*spec);
  state_.loaded = now_();
  in_force_ = std::move(texts);
}

SpecSource::Outcome SpecSource::refresh(bool confirmed) {
  auto texts = api::read_spec_folders(places_.folders);
  if (!texts) {
    const bool again = state_.last_good && state_.problem == texts.error().what;
    looked_ = false;
    return again ? Outcome::unchanged : reject(texts.error().what, texts.error().remedy);
  }
  if (looked_ && same(*texts, considered_) && !(confirmed && !state_.problem.empty())) return Outcome::unchanged;
  const bool first = !looked_;
  looked_ = true;
  considered_ = *texts;
  if (!in_force_.empty() && same(*texts, in_force_)) {
    const bool changed = !state_.problem.empty();
    state_.last_good = false;
    state_.problem.clear();
    state_.remedy.clear();
    return changed || first ? Outcome::loaded : Outcome::unchanged;
  }
  if (all_blank(*texts) && state_.loaded.empty()) {  // nothing yet, and nothing before: not an error
    state_.files.clear();
    return Outcome::unchanged;
  }
  auto spec = all_blank(*texts) ? Result<Spec>(Spec{}) : parse_(*texts);
  if (!spec) return reject(spec.error().what, spec.error().remedy);
  if (spec->wants_nothing() && !state_.spec.wants_nothing() && !confirmed)
    return reject("the spec was emptied: it names no export, connection or volume any more",
                  "put it back, or say 'nvstripe apply' if nothing is really wanted");
  return take(std::move(*spec), std::move(*texts));
}

SpecSource::Outcome SpecSource::reject(std::string problem, std::string remedy) {
  state_.problem = std::move(problem);
  state_.remedy = std::move(remedy);
  state_.last_good = !state_.loaded.empty();
  return Outcome::rejected;
}

SpecSource::Outcome SpecSource::take(Spec spec, std::vector<SpecText> texts) {
  boost::json::array kept;
  state_ = api::SpecState{};
  for (const SpecText& file : texts) {
    state_.files.push_back(file.path);
    kept.emplace_back(boost::json::object{{"path", file.path}, {"text", file.text}});
  }
  state_.spec = std::move(spec);
  state_.loaded = now_();
  in_force_ = std::move(texts);
  if (const auto written = write_durably(places_.last_good, boost::json::serialize(kept)); !written)
    state_.remedy = written.error().what;  // in force all the same; a restart would have to read the folders
  return Outcome::loaded;
}

std::vector<std::string> SpecSource::watched() const {
  std::vector<std::string> folders;
  for (const std::string& folder : places_.folders) {
    std::error_code code;
    const std::string inner = folder + "/conf.d";
    if (fs::is_directory(folder, code)) folders.push_back(folder);
    if (fs::is_directory(inner, code)) folders.push_back(inner);
  }
  return folders;
}

}  // namespace nvstripe::daemon
