// Owns reading spec files from the disk and from captured machines.
#include "agent/api/spec_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace nvstripe::api {
namespace {

namespace fs = std::filesystem;

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

bool is_spec_name(std::string_view name) { return name.ends_with(".yaml") && !name.starts_with("."); }

// "nvstripe.yaml" first, then conf.d by name. A folder that cannot be read is an error: its files are not known to be gone.
Result<std::vector<std::string>> files_of(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code code;
  const std::string main = folder + "/nvstripe.yaml";
  if (fs::exists(fs::symlink_status(main, code))) files.push_back(main);
  std::vector<std::string> more;
  fs::directory_iterator at(folder + "/conf.d", code);
  if (code == std::errc::no_such_file_or_directory) return files;
  for (; !code && at != fs::directory_iterator(); at.increment(code)) {
    const std::string name = at->path().filename().string();
    if (is_spec_name(name)) more.push_back(at->path().string());
  }
  if (code) return fail("cannot list '" + folder + "/conf.d': " + code.message(), "make it readable for root", code);
  std::sort(more.begin(), more.end());
  files.insert(files.end(), more.begin(), more.end());
  return files;
}

}  // namespace

Result<std::string> read_regular(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file.fd < 0) return fail_errno("cannot read '" + path + "'");
  struct stat status {};
  if (::fstat(file.fd, &status) != 0) return fail_errno("cannot read '" + path + "'");
  if (!S_ISREG(status.st_mode)) return fail("'" + path + "' is not a regular file", "put the spec into a plain file");
  std::string text;
  char chunk[16384];
  for (;;) {
    const ssize_t got = ::read(file.fd, chunk, sizeof chunk);
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("cannot read '" + path + "'");
    text.append(chunk, static_cast<std::size_t>(got));
    if (text.size() > kMaxSpecBytes)
      return fail("'" + path + "' is larger than 1 MiB", "a spec is a short text; is this the right file?");
  }
}

Result<std::vector<SpecText>> read_spec_folders(const std::vector<std::string>& folders) {
  std::vector<SpecText> texts;
  for (const std::string& folder : folders) {
    TRY(const std::vector<std::string> files, files_of(folder));
    for (const std::string& file : files) {
      TRY(std::string text, read_regular(file));
      texts.push_back(SpecText{file, std::move(text)});
    }
  }
  return texts;
}

Result<std::vector<SpecText>> read_spec_folders(const host::Reader& reader) {
  std::vector<SpecText> texts;
  const auto add = [&](const std::string& path) -> Result<> {
    TRY(std::string text, reader.file(path));
    texts.push_back(SpecText{path, std::move(text)});
    return {};
  };
  for (const std::string_view name : kSpecFolders) {
    const std::string folder(name);
    if (reader.entry(folder + "/nvstripe.yaml") != host::Entry::absent) CHECKED(add(folder + "/nvstripe.yaml"));
    const auto more = reader.list(folder + "/conf.d");
    if (!more) continue;
    for (const std::string& file : *more)
      if (is_spec_name(file)) CHECKED(add(folder + "/conf.d/" + file));
  }
  return texts;
}

}  // namespace nvstripe::api
