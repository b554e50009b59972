// Owns the entry of children: which verb, its alarm, its output.
#include "agent/host/child.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string_view>
#include <thread>

#include "agent/base/text.hpp"
#include "agent/host/child_verbs.hpp"

namespace nvstripe::host {
namespace {

struct Verb {
  std::string_view name;
  int (*perform)(const std::vector<std::string>&);
};
constexpr std::array kVerbs = {Verb{"look", look_verb}, Verb{"hands", hands_verb}, Verb{"target", target_verb},
                               Verb{"figures", figures_verb}};

constexpr int kUsage = 64;
// Threads at once: enough that a few dead drives do not stop the rest, few enough for a machine of a thousand namespaces.
constexpr std::size_t kThreads = 64;

}  // namespace

std::optional<int> child_main(int argc, char** argv) {
  if (argc < 2 || argv[1] != kChildFlag) return std::nullopt;
  if (argc < 4) return kUsage;
  const std::string_view name = argv[2];
  const auto seconds = parse_number(argv[3]);
  const auto* verb = std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& row) { return row.name == name; });
  if (verb == kVerbs.end() || !seconds) return kUsage;
  (void)::prctl(PR_SET_NAME, ("nvstripe-" + std::string(name)).c_str());  // for people who look at the process list
  if (*seconds > 0) (void)::alarm(static_cast<unsigned>(*seconds));       // SIGALRM ends it
  return verb->perform(std::vector<std::string>(argv + 4, argv + argc));
}

std::vector<std::string> child_argv(std::string_view verb, std::chrono::milliseconds deadline,
                                    const std::vector<std::string>& arguments) {
  // After an upgrade the file on disk is another one; the link leads to the program that is running.
  const auto seconds = deadline.count() == 0 ? 0 : std::chrono::ceil<std::chrono::seconds>(deadline).count() + 5;
  std::vector<std::string> argv = {"/proc/self/exe", std::string(kChildFlag), std::string(verb), std::to_string(seconds)};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

Command child_command(std::string_view verb, std::chrono::milliseconds deadline, const std::vector<std::string>& arguments) {
  Command command;
  command.argv = child_argv(verb, deadline, arguments);
  command.deadline = deadline;
  command.kill_at_once = true;
  return command;
}

int answer_each(const std::vector<std::string>& questions, const std::function<std::string(const std::string&)>& answer) {
  std::atomic<std::size_t> next{0}, told{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < questions.size(); i = next++) {
      tell(answer(questions[i]));
      // A thread that hangs in the kernel would keep the process from an orderly end.
      if (++told == questions.size()) ::_exit(0);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::min(kThreads, questions.size()); ++i) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  return 0;
}

void tell(const std::string& json_line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::string text = json_line + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto put = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return;  // nobody listens any more
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace nvstripe::host
