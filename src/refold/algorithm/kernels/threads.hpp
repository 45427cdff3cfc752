// Threads that live for one call: nothing is left behind that a fork could break.
#pragma once
#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace refold {

// Runs work(t) for t = 0 … n_threads-1, the first on the calling thread. What a thread throws is
// thrown again here. Where the system refuses a thread, the calling one does its work.
template <class Work>
void on_threads(int n_threads, Work work) {
  std::vector<std::exception_ptr> failures(n_threads);
  auto guarded = [&](int t) {
    try {
      work(t);
    } catch (...) {
      failures[t] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(n_threads);
  int started = 1;
  try {
    for (; started < n_threads; ++started) others.emplace_back(guarded, started);
  } catch (const std::system_error&) {
  }
  guarded(0);
  for (int t = started; t < n_threads; ++t) guarded(t);
  for (auto& thread : others) thread.join();
  for (auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace refold
