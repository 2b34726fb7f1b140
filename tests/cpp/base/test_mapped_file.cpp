// Files in memory that somebody cuts short meanwhile: zeros and a flag, not the end of the process.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "check.hpp"
#include "riata/base/mapped_file.hpp"

namespace {

using namespace riata;

constexpr std::size_t kPages = 64;
const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

int file_of_ones() {
  char name[] = "/tmp/riata-mapped-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  const std::vector<char> ones(kPages * page, 1);
  CHECK(write(file, ones.data(), ones.size()) == static_cast<ssize_t>(ones.size()));
  return file;
}

std::size_t ones_in(const Mapped& mapped) {
  std::size_t ones = 0;
  const volatile char* const data = mapped.data();
  for (std::size_t i = 0; i < mapped.size(); ++i) ones += data[i] == 1;
  return ones;
}

void what_is_cut_off_is_zero() {
  const int file = file_of_ones();
  Mapped mapped;
  CHECK(mapped.open(file, kPages * page) == 0);
  CHECK(ones_in(mapped) == kPages * page);
  CHECK(!mapped.lost());
  CHECK(ftruncate(file, static_cast<off_t>(10 * page + 100)) == 0);
  mapped.fetch(0, mapped.size());
  CHECK(!mapped.lost());  // nobody has read anything yet
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) readers.emplace_back([&] { CHECK(ones_in(mapped) == 10 * page + 100); });
  for (std::thread& reader : readers) reader.join();
  CHECK(mapped.lost());
  mapped.release(0, mapped.size());
  CHECK(ones_in(mapped) == 10 * page + 100);
  CHECK(ftruncate(file, static_cast<off_t>(kPages * page)) == 0);
  CHECK(ones_in(mapped) == 10 * page + 100);
  close(file);
  CHECK(ones_in(mapped) == 10 * page + 100);
}

// Each mapping knows of its own losses, also when its place was another's before.
void many_at_once() {
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<std::unique_ptr<Mapped>> all;
    std::vector<int> files;
    for (int i = 0; i < 40; ++i) {
      files.push_back(file_of_ones());
      all.push_back(std::make_unique<Mapped>());
      CHECK(all.back()->open(files.back(), kPages * page) == 0);
      if (i % 3 == 0) CHECK(ftruncate(files.back(), 0) == 0);
    }
    for (int i = 0; i < 40; ++i) {
      CHECK(ones_in(*all[i]) == (i % 3 == 0 ? 0 : kPages * page));
      CHECK(all[i]->lost() == (i % 3 == 0));
    }
    for (const int file : files) close(file);
  }
}

void advice_stays_inside() {
  const int file = file_of_ones();
  Mapped mapped;
  CHECK(mapped.open(file, kPages * page - 7) == 0);
  for (const std::size_t start : {std::size_t{0}, page - 1, page, 5 * page + 3, kPages * page - 8})
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, page, 3 * page + 1}) {
      if (start + size > mapped.size()) continue;
      mapped.fetch(start, size);
      mapped.release(start, size);
    }
  CHECK(ones_in(mapped) == mapped.size());
  CHECK(!mapped.lost());
  close(file);
}

void what_cannot_be_mapped() {
  Mapped none, pipe_end;
  CHECK(none.open(-1, page) == EBADF);
  int both[2];
  CHECK(pipe(both) == 0);
  CHECK(pipe_end.open(both[0], page) != 0);
  CHECK(!pipe_end.lost());
  close(both[0]);
  close(both[1]);
}

// What a child does that ends with this status, or by this signal (negative).
template <class Work>
int ends_with(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void touch_a_cut_file() {
  const int file = file_of_ones();
  void* const data = mmap(nullptr, page, PROT_READ, MAP_SHARED, file, 0);
  CHECK(ftruncate(file, 0) == 0);
  (void)*static_cast<const volatile char*>(data);
}

void map_something() {
  static Mapped mapped;
  CHECK(mapped.open(file_of_ones(), page) == 0);
}

struct sigaction earlier;
void hand_back(int) {  // as Python's fault handler does
  sigaction(SIGBUS, &earlier, nullptr);
  raise(SIGBUS);
}

// Errors that are none of ours end the process, or go to whoever wanted them.
void others_get_theirs() {
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGBUS, &usual, nullptr);
  CHECK(ends_with([] {
          map_something();
          touch_a_cut_file();
        }) == -SIGBUS);
  CHECK(ends_with([] {
          map_something();
          raise(SIGBUS);
        }) == -SIGBUS);
  CHECK(ends_with([] {
          signal(SIGBUS, [](int) { _exit(7); });
          map_something();
          touch_a_cut_file();
        }) == 7);
  CHECK(ends_with([] {
          signal(SIGBUS, [](int) { _exit(7); });
          map_something();
          raise(SIGBUS);
        }) == 7);
  // One that came later and hands back to us, and then we came again.
  CHECK(ends_with([] {
          alarm(20);
          map_something();
          struct sigaction later{};
          later.sa_handler = hand_back;
          later.sa_flags = SA_NODEFER;
          sigaction(SIGBUS, &later, &earlier);
          Mapped another;
          CHECK(another.open(file_of_ones(), page) == 0);
          touch_a_cut_file();
        }) == -SIGBUS);
}

}  // namespace

int main() {
  others_get_theirs();
  what_is_cut_off_is_zero();
  many_at_once();
  advice_stays_inside();
  what_cannot_be_mapped();
  return check::failures();
}
